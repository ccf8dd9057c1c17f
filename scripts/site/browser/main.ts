import { offerToCopy } from './copy.ts'
import { markPlaceOnPage, showPageInMenu } from './menus.ts'
import { openSearchOnDemand } from './search.ts'
import { switchThemes } from './theme.ts'

switchThemes()
showPageInMenu()
markPlaceOnPage()
offerToCopy()
openSearchOnDemand()
