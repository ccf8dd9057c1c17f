import { render } from 'preact'
import { App } from './app.tsx'
import { refresh } from './live.ts'

const root = document.getElementById('root')
if (root) {
  void refresh()
  render(<App />, root)
}
