import { render } from 'preact'
import { App } from './app.tsx'
import { refresh } from './live.ts'

const root = document.getElementById('root')
if (root) {
  void refresh()
  // A task of its own, so that evaluating the script and the first layout are not one long task.
  setTimeout(() => render(<App />, root))
}
