// What an element is to a person who looks at the page: role, name, states, value.
import { childrenOf, clean, INPUTS, isElement, isText, MOST_NAME, parentOf, SKIPPED, WIDGETS } from './elements.js'

export const roleOf = (element: Element): string => {
  const explicit = element.getAttribute('role')?.trim().split(/\s+/)[0]?.toLowerCase()
  if (explicit && explicit !== 'none' && explicit !== 'presentation' && explicit !== 'generic') return explicit
  switch (element.tagName) {
    case 'A':
      return element.hasAttribute('href') ? 'link' : ''
    case 'BUTTON':
      return 'button'
    case 'SUMMARY':
      return 'button'
    case 'SELECT':
      return (element as HTMLSelectElement).multiple ? 'listbox' : 'combobox'
    case 'TEXTAREA':
      return 'textbox'
    case 'INPUT':
      return INPUTS[(element as HTMLInputElement).type] ?? 'textbox'
    case 'IMG':
      return 'image'
    case 'IFRAME':
    case 'FRAME':
      return 'iframe'
    case 'VIDEO':
      return 'video'
    case 'AUDIO':
      return 'audio'
    case 'DIALOG':
      return 'dialog'
    default:
      return /^H[1-6]$/.test(element.tagName) ? 'heading' : ''
  }
}
export const textOf = (element: Element, most: number): string => {
  let text = ''
  const visit = (node: Node): void => {
    if (text.length > most * 2) return
    if (isText(node)) text += node.data
    else if (isElement(node)) {
      if (SKIPPED.has(node.tagName) || node.getAttribute('aria-hidden') === 'true') return
      if (node instanceof HTMLImageElement) text += ` ${node.alt} `
      else if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement) return
      else {
        if (!node.checkVisibility()) return
        const label = node === element ? null : node.getAttribute('aria-label')
        if (label) text += ` ${label} `
        else {
          const isBlock = node !== element && /^(?:DIV|P|LI|TR|TD|H[1-6]|BR|SECTION)$/.test(node.tagName)
          if (isBlock) text += ' '
          for (const child of childrenOf(node)) visit(child)
          if (isBlock) text += ' '
        }
      }
    }
  }
  visit(element)
  return clean(text, most)
}
const labelledBy = (element: Element): string => {
  const ids = element.getAttribute('aria-labelledby')
  if (ids === null) return ''
  const root = element.getRootNode() as Document | ShadowRoot
  return ids
    .split(/\s+/)
    .map((id) => root.getElementById(id))
    .map((one) => (one ? textOf(one, MOST_NAME) : ''))
    .join(' ')
    .trim()
}
export const nameOf = (element: Element, role: string): string => {
  const aria = labelledBy(element) || element.getAttribute('aria-label')?.trim()
  if (aria) return clean(aria, MOST_NAME)
  const isField = /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName)
  if (isField) {
    const field = element as HTMLInputElement
    if (role === 'button') return clean(field.value || field.alt || field.type, MOST_NAME)
    const labels = [...(field.labels ?? [])].map((label) => textOf(label, MOST_NAME)).join(' ')
    return clean(labels || field.placeholder || field.title || field.name, MOST_NAME)
  }
  if (element instanceof HTMLImageElement) return clean(element.alt || element.title, MOST_NAME)
  if (role === 'iframe') return clean(element.getAttribute('title') ?? element.getAttribute('name') ?? '', MOST_NAME)
  if (role === 'dialog') return ''
  const text = onlyText(element)
  const name = text === null ? textOf(element, MOST_NAME) : clean(text, MOST_NAME)
  return name || clean(element.getAttribute('title') ?? '', MOST_NAME)
}
/** Of what holds nothing but one text, as most links and buttons do. */
const onlyText = (element: Element): string | null => {
  const first = element.firstChild
  return first !== null && isText(first) && first.nextSibling === null && !element.shadowRoot ? first.data : null
}
export const statesOf = (element: Element): string[] => {
  const states: string[] = []
  const is = (name: string) => element.getAttribute(`aria-${name}`) === 'true'
  const field = element as HTMLInputElement
  const isField = /^(?:INPUT|SELECT|TEXTAREA|BUTTON)$/.test(element.tagName)
  const isBox = element.tagName === 'INPUT' && (field.type === 'checkbox' || field.type === 'radio')
  if (isBox ? field.checked : is('checked')) states.push('checked')
  if (is('selected')) states.push('selected')
  if (is('pressed')) states.push('pressed')
  const expanded = element.getAttribute('aria-expanded')
  if (expanded) states.push(expanded === 'true' ? 'expanded' : 'collapsed')
  else if (element.tagName === 'SUMMARY')
    states.push((element.parentElement as HTMLDetailsElement).open ? 'expanded' : 'collapsed')
  if ((isField && element.matches(':disabled')) || is('disabled')) states.push('disabled')
  if (isField && field.required) states.push('required')
  if (is('invalid') || (isField && field.willValidate && field.value !== '' && !field.validity.valid))
    states.push('invalid')
  if (isField && field.readOnly) states.push('read only')
  return states
}
const HOLDS_NOTHING: Readonly<Record<string, string>> = { A: 'link', BUTTON: 'button' }
export const heldValue = (element: Element, role: string): string | undefined => {
  if (HOLDS_NOTHING[element.tagName] === role) return undefined
  if (element instanceof HTMLSelectElement)
    return clean([...element.selectedOptions].map((option) => option.label).join(', '), MOST_NAME)
  if (element instanceof HTMLTextAreaElement) return clean(element.value, MOST_NAME)
  if (element instanceof HTMLInputElement) {
    if (role === 'button' || role === 'checkbox' || role === 'radio') return undefined
    if (element.type === 'password') return element.value === '' ? '' : '(set)'
    if (element.type === 'file') return [...(element.files ?? [])].map((file) => file.name).join(', ')
    return clean(element.value, MOST_NAME)
  }
  if (element instanceof HTMLElement && element.isContentEditable) return clean(element.innerText, MOST_NAME)
  return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? undefined
}
export const isActable = (element: Element, role: string, style: CSSStyleDeclaration): boolean => {
  if (element instanceof HTMLInputElement) return element.type !== 'hidden'
  if (WIDGETS.has(role) || role === 'listbox' || role === 'iframe' || role === 'video' || role === 'audio') return true
  if (element instanceof HTMLElement && element.isContentEditable)
    return !(parentOf(element) as HTMLElement | null)?.isContentEditable
  if (element === document.body || element === document.documentElement) return false
  if (element.hasAttribute('onclick')) return true
  const tabIndex = element.getAttribute('tabindex')
  if (tabIndex !== null && Number(tabIndex) >= 0) return true
  if (style.cursor !== 'pointer') return false
  const parent = parentOf(element)
  return parent === null || getComputedStyle(parent).cursor !== 'pointer'
}
export const isInView = (element: Element): boolean => {
  const { top, bottom, left, right } = element.getBoundingClientRect()
  return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
}
