// What the page script knows elements by: a ref each, for as long as they are in the page.

export const MOST_TEXT = 300
export const MOST_NAME = 120
export const ALIKE = 5
export const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'OBJECT', 'EMBED'])
export const WIDGETS = new Set(
  'button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option combobox textbox searchbox spinbutton slider treeitem gridcell'.split(
    ' ',
  ),
)
export const INPUTS: Record<string, string> = {
  checkbox: 'checkbox',
  radio: 'radio',
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
  file: 'file',
  color: 'color',
  date: 'date',
  time: 'time',
  month: 'month',
  week: 'week',
  'datetime-local': 'date and time',
  password: 'password',
}
export const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number', ''])

export const refs = new WeakMap<Element, string>()
export const elements = new Map<string, WeakRef<Element>>()
export let next = 1

export const clean = (text: string, most: number) => {
  const flat = text.replace(/\s+/g, ' ').trim()
  return flat.length > most ? `${flat.slice(0, most)}…` : flat
}
export const numberRefsFrom = (start: number) => {
  next = Math.max(next, start)
}
export const refOf = (element: Element): string => {
  const known = refs.get(element)
  if (known !== undefined) return known
  const ref = `e${next++}`
  refs.set(element, ref)
  elements.set(ref, new WeakRef(element))
  return ref
}
export const find = (ref: string): Element | null => {
  const element = elements.get(ref)?.deref()
  return element?.isConnected ? element : null
}
export const childrenOf = (element: Element): readonly Node[] => {
  if (element.shadowRoot) return nodesOf(element.shadowRoot)
  if (element.tagName === 'SLOT') {
    const assigned = (element as HTMLSlotElement).assignedNodes()
    if (assigned.length > 0) return assigned
  }
  return nodesOf(element)
}
// Lists that follow the page are several times as slow to go through.
const nodesOf = (parent: Node): readonly Node[] => {
  const nodes: Node[] = []
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) nodes.push(node)
  return nodes
}
export const isText = (node: Node): node is Text => node.nodeType === Node.TEXT_NODE
export const isElement = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE
export const parentOf = (element: Element): Element | null => {
  const root = element.getRootNode()
  return element.assignedSlot ?? element.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
}
