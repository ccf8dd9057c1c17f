import { onContentUpdated } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import './style.css'

export default {
  extends: DefaultTheme,
  setup() {
    // The list of symbols is longer than the window: show the current one, after VitePress has marked it.
    onContentUpdated(() =>
      setTimeout(() => document.querySelector('.VPSidebar .is-active > .item')?.scrollIntoView({ block: 'nearest' })),
    )
  },
}
