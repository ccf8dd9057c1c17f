import { signal } from '@preact/signals'
import { store, stored } from '../stored.ts'

const KEY = 'pane'
const [MIN, DEFAULT, MAX] = [25, 37, 70]
const KEY_STEPS: Readonly<Record<string, number>> = { ArrowLeft: 4, ArrowRight: -4 }

/** Width of the open item in percent of the content. */
export const paneWidth = signal(Number(stored(KEY)) || DEFAULT)

function setWidth(percent: number): void {
  paneWidth.value = Math.round(Math.max(MIN, Math.min(MAX, percent)))
  store(KEY, String(paneWidth.value))
}

function drag({ currentTarget, pointerId, clientX }: PointerEvent): void {
  const divider = currentTarget as HTMLElement
  if (!divider.hasPointerCapture(pointerId) || !divider.parentElement) return
  const { right, width } = divider.parentElement.getBoundingClientRect()
  setWidth((100 * (right - clientX)) / width)
}

function onKeyDown(event: KeyboardEvent): void {
  const step = KEY_STEPS[event.key]
  if (step === undefined) return
  event.preventDefault()
  setWidth(paneWidth.value + step)
}

/** The line between a list and the open item. Dragging it, or an arrow key, changes the width of the item. */
export const Divider = () => (
  // biome-ignore lint/a11y/useSemanticElements: hr is no control
  <div
    class="divider"
    role="separator"
    tabIndex={0}
    aria-label="Width of the open item"
    aria-orientation="vertical"
    aria-valuenow={paneWidth.value}
    aria-valuemin={MIN}
    aria-valuemax={MAX}
    onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
    onPointerMove={drag}
    onKeyDown={onKeyDown}
  />
)
