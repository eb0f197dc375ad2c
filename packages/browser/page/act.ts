// What the page script does to elements: it finds where they are, focuses, chooses, scrolls.
import type { Chosen, Filled, Focused, Located, PageScript } from '../src/page/page-node.js'
import { roleOf, textOf } from './describe.js'
import { clean, find, parentOf, refOf, refs, TYPED } from './elements.js'

const describe = (element: Element): string => {
  const role = roleOf(element) || element.tagName.toLowerCase()
  const name = textOf(element, 60)
  return `${role}${name === '' ? '' : ` "${name}"`}${refs.has(element) ? ` (${refs.get(element)})` : ''}`
}
export const boxOf = (element: Element): DOMRect | null => {
  const rects = [...element.getClientRects()].filter(({ width, height }) => width > 0 && height > 0)
  if (rects.length > 0) return rects[0]!
  // A field that is drawn by its label, or a link around a block.
  const label = (element as HTMLInputElement).labels?.[0] ?? element.firstElementChild
  return label ? ([...label.getClientRects()].find(({ width, height }) => width > 0 && height > 0) ?? null) : null
}
const hit = (x: number, y: number): Element | null => {
  let at = document.elementFromPoint(x, y)
  while (at?.shadowRoot) {
    const inner = at.shadowRoot.elementFromPoint(x, y)
    if (!inner || inner === at) break
    at = inner
  }
  return at
}
const belongsTo = (at: Element | null, element: Element): boolean => {
  for (let one = at; one; one = parentOf(one)) {
    if (one === element) return true
    if (one instanceof HTMLLabelElement && one.control === element) return true
  }
  return at?.contains(element) === true && at !== document.body && at !== document.documentElement
    ? at.firstElementChild !== null && at.childElementCount === 1
    : false
}
/** Frames of a busy machine come late and then close upon each other: what moves by timers stands still between such two. */
const FRAME_MS = 20
/** The next frame, not sooner than {@link FRAME_MS}; a page that nobody sees draws none, and a busy machine draws few. */
const frame = () =>
  new Promise<void>((resolve) => {
    const since = performance.now()
    const timer = setTimeout(resolve, 250)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      setTimeout(resolve, FRAME_MS - (performance.now() - since))
    })
  })

const isDisabled = (element: Element) =>
  (/^(?:INPUT|SELECT|TEXTAREA|BUTTON|OPTION)$/.test(element.tagName) && element.matches(':disabled')) ||
  element.getAttribute('aria-disabled') === 'true'

export const locate = async (ref: string): Promise<Located> => {
  const element = find(ref)
  if (!element) return { type: 'gone' }
  if (isDisabled(element)) return { type: 'disabled' }
  let box = boxOf(element)
  if (!box || !element.checkVisibility({ visibilityProperty: true })) return { type: 'hidden' }
  const isOut = (rect: DOMRect) => rect.top < 0 || rect.bottom > innerHeight || rect.left < 0 || rect.right > innerWidth
  if (isOut(box)) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    box = boxOf(element)
  }
  // It stands still when two frames agree.
  for (let tries = 0; tries < 20 && box; tries++) {
    const before = box
    await frame()
    box = find(ref) ? boxOf(element) : null
    if (box && Math.abs(box.x - before.x) < 1 && Math.abs(box.y - before.y) < 1) {
      const left = Math.max(0, box.left)
      const top = Math.max(0, box.top)
      const x = (left + Math.min(innerWidth, box.right)) / 2
      const y = (top + Math.min(innerHeight, box.bottom)) / 2
      const at = hit(x, y)
      if (!belongsTo(at, element)) return { type: 'covered', by: at ? describe(at) : 'nothing that takes clicks' }
      return { type: 'at', x, y, tag: element.tagName, inputType: (element as HTMLInputElement).type ?? '' }
    }
  }
  return find(ref) ? { type: box ? 'moving' : 'hidden' } : { type: 'gone' }
}

const changed = (element: Element) => {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }))
  element.dispatchEvent(new Event('change', { bubbles: true }))
}

export const focus: PageScript['focus'] = (ref, { value }): Focused => {
  let element = find(ref)
  if (!element) return { type: 'gone' }
  if (element instanceof HTMLLabelElement && element.control) element = element.control
  if (isDisabled(element)) return { type: 'disabled' }
  if (!element.checkVisibility({ visibilityProperty: true })) return { type: 'hidden' }
  element.scrollIntoView({ block: 'nearest', behavior: 'instant' })
  if (element instanceof HTMLInputElement && !TYPED.has(element.type)) {
    if (/^(?:checkbox|radio|button|submit|reset|image|file)$/.test(element.type)) return { type: 'no-field' }
    element.focus()
    element.value = value
    changed(element)
    return { type: 'set', value: element.value }
  }
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    if (element.readOnly) return { type: 'disabled' }
    element.focus()
    element.select()
    return { type: 'text' }
  }
  if (!(element instanceof HTMLElement) || !element.isContentEditable) {
    const inner = element.querySelector<HTMLElement>('input:not([type=hidden]),textarea,[contenteditable=true]')
    return inner ? focus(refOf(inner), { value }) : { type: 'no-field' }
  }
  element.focus()
  const range = document.createRange()
  range.selectNodeContents(element)
  getSelection()?.removeAllRanges()
  getSelection()?.addRange(range)
  return { type: 'text' }
}

export const fill: PageScript['fill'] = (ref, { origin, value, isPassword }): Filled => {
  const element = find(ref)
  if (!element) return { type: 'gone' }
  if (location.origin !== origin) return { type: 'elsewhere', origin: location.origin }
  if (!(element instanceof HTMLInputElement) || (!TYPED.has(element.type) && element.type !== 'password'))
    return { type: 'no-field' }
  if (isPassword && element.type !== 'password') return { type: 'no-password' }
  if (isDisabled(element) || element.readOnly) return { type: 'disabled' }
  if (!element.checkVisibility({ visibilityProperty: true })) return { type: 'hidden' }
  element.value = value
  changed(element)
  return { type: 'filled' }
}

export const choose: PageScript['choose'] = (ref, { values }): Chosen => {
  const element = find(ref)
  if (!element) return { type: 'gone' }
  if (!(element instanceof HTMLSelectElement)) return { type: 'no-list' }
  if (isDisabled(element)) return { type: 'disabled' }
  const options = [...element.options]
  const same = (left: string, right: string) => left.trim().toLowerCase() === right.trim().toLowerCase()
  const wanted = values.map((value) =>
    options.find((option) => !option.disabled && (same(option.label, value) || same(option.value, value))),
  )
  if (wanted.some((option) => option === undefined) || (!element.multiple && wanted.length !== 1))
    return { type: 'unknown', options: options.slice(0, 50).map((option) => clean(option.label, 60)) }
  element.focus()
  for (const option of options) option.selected = wanted.includes(option)
  changed(element)
  return { type: 'chosen', labels: [...element.selectedOptions].map((option) => clean(option.label, 60)) }
}

export const scroll: PageScript['scroll'] = ({ ref, by }) => {
  const page = document.scrollingElement ?? document.documentElement
  let target: Element | null = ref === undefined ? page : find(ref)
  if (!target) return null
  while (target && target !== page) {
    const { overflowY } = getComputedStyle(target)
    if (target.scrollHeight > target.clientHeight + 1 && /auto|scroll|overlay/.test(overflowY)) break
    target = parentOf(target)
  }
  target ??= page
  target.scrollBy({ top: by * (target === page ? innerHeight : target.clientHeight), behavior: 'instant' })
  return { y: Math.round(target.scrollTop), height: target.scrollHeight }
}
