// Numbers beside what can be acted on, for a picture of the page. They stand in a closed shadow tree and are gone after the picture.
import { boxOf } from './act.js'
import { isInView } from './describe.js'
import { elements } from './elements.js'

let host: HTMLElement | null = null

/** Draws a box with its reference around each element in the window that has one, and gives the references. */
export const label = (): readonly string[] => {
  unlabel()
  host = document.createElement('div')
  Object.assign(host.style, {
    all: 'initial',
    position: 'fixed',
    inset: '0',
    pointerEvents: 'none',
    zIndex: '2147483647',
  })
  const root = host.attachShadow({ mode: 'closed' })
  const refs: string[] = []
  for (const [ref, weak] of elements) {
    const element = weak.deref()
    if (!element?.isConnected || !isInView(element) || !element.checkVisibility({ visibilityProperty: true })) continue
    const box = boxOf(element)
    if (!box) continue
    const frame = document.createElement('div')
    const place = { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` }
    Object.assign(frame.style, { ...place, position: 'fixed', boxSizing: 'border-box', border: '2px solid #d00' })
    const tag = document.createElement('span')
    tag.textContent = ref
    const where = { position: 'absolute', left: '-2px', top: box.y > 14 ? '-14px' : '0' }
    Object.assign(tag.style, {
      ...where,
      background: '#d00',
      color: '#fff',
      font: 'bold 11px/13px monospace',
      padding: '0 2px',
    })
    frame.append(tag)
    root.append(frame)
    refs.push(ref)
  }
  document.documentElement.append(host)
  return refs
}

export const unlabel = (): void => {
  host?.remove()
  host = null
}
