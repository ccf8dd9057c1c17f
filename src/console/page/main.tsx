import { render } from 'preact'
import { App } from './app.tsx'
import { refresh } from './live.ts'

const root = document.getElementById('root')
if (root) {
  void refresh()
  // Reading the script and the first layout are tasks of their own.
  setTimeout(() => render(<App />, root))
}
