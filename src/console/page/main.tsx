import { render } from 'preact'
import { App } from './app.tsx'
import { follow } from './live.ts'

const root = document.getElementById('root')
if (root) {
  follow()
  render(<App />, root)
}
