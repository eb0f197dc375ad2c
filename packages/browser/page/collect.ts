// The walk through the page that a snapshot is made of.
import type { Found, PageNode, PageScript } from '../src/page/page-node.js'
import { heldValue, isActable, isInView, nameOf, roleOf, statesOf, textOf } from './describe.js'
import {
  ALIKE,
  childrenOf,
  clean,
  find,
  isElement,
  isText,
  MOST_NAME,
  MOST_TEXT,
  next,
  numberRefsFrom,
  refOf,
  SKIPPED,
} from './elements.js'

export let frames: Element[] = []

const SEEN = { visibilityProperty: true } as const
const IN_FLOW = new Set(['static', 'relative'])

/** A text that says what the field beside it is called says it twice. */
const isLabel = ({ role, name }: PageNode, beside: PageNode | undefined) =>
  role === 'text' && beside?.ref !== undefined && beside.name === name && !/^(?:link|button)$/.test(beside.role)

const tagOfMany = (nodes: readonly Node[]): string | undefined => {
  const tags = new Map<string, number>()
  for (const node of nodes) if (isElement(node)) tags.set(node.tagName, (tags.get(node.tagName) ?? 0) + 1)
  return [...tags].find(([, count]) => count > ALIKE)?.[0]
}

export const collect: PageScript['collect'] = ({ start, scope, max }): Found => {
  numberRefsFrom(start)
  frames = []
  let nodes: PageNode[] = []
  let groups = 0
  let pending = ''
  let pendingAt: Element | null = null
  let row: PageNode['row']
  // Of rows without end, most are out of the window with all that is in them; where each of their elements is takes half the time of a walk.
  let isOutside = false
  const sees = (element: Element) => !isOutside && isInView(element)
  const add = (node: PageNode) => nodes.push(row ? { ...node, row } : node)
  const flush = () => {
    const text = clean(pending, MOST_TEXT)
    if (text !== '' && pendingAt) add({ role: 'text', name: text, inView: sees(pendingAt) })
    pending = ''
    pendingAt = null
  }
  const visitChildren = (element: Element, quiet: boolean) => {
    const children = childrenOf(element)
    const alike = row === undefined && children.length > ALIKE ? tagOfMany(children) : undefined
    const group = alike === undefined ? 0 : ++groups
    let index = 0
    for (const child of children) {
      if (nodes.length >= max) return
      if (isText(child)) {
        if (quiet || child.data.trim() === '') {
          if (!quiet && pending !== '') pending += ' '
          continue
        }
        pending += child.data
        pendingAt ??= element
      } else if (isElement(child)) {
        const isRow = child.tagName === alike
        if (isRow) {
          flush()
          row = [group, index++]
          isOutside = !isInView(child)
        }
        visit(child, quiet)
        if (isRow) {
          flush()
          row = undefined
          isOutside = false
        }
      }
    }
  }
  const visit = (element: Element, quiet: boolean): void => {
    if (SKIPPED.has(element.tagName) || element.getAttribute('aria-hidden') === 'true') return
    // One question for what nearly every element is: properties of styles are what a walk takes most of its time for.
    const isHidden = !element.checkVisibility(SEEN)
    if (isHidden && !element.checkVisibility()) return
    const style = getComputedStyle(element)
    // It need not be where its row is.
    if (isOutside && !IN_FLOW.has(style.position)) {
      isOutside = false
      visitShown(element, quiet, isHidden, style)
      isOutside = true
    } else visitShown(element, quiet, isHidden, style)
  }
  const visitShown = (element: Element, quiet: boolean, isHidden: boolean, style: CSSStyleDeclaration): void => {
    const role = roleOf(element)
    if (!isHidden && isActable(element, role, style)) {
      flush()
      const value = heldValue(element, role)
      const states = statesOf(element)
      const isFrame = role === 'iframe'
      const isList = element instanceof HTMLSelectElement
      const isEditable = element instanceof HTMLElement && element.isContentEditable
      const shown = role || (isEditable ? 'textbox' : 'clickable')
      const name = isEditable && !element.hasAttribute('aria-label') ? '' : nameOf(element, role)
      add({
        ref: refOf(element),
        role: shown,
        name,
        inView: sees(element),
        ...(value === undefined || (value === '' && shown !== 'textbox') ? {} : { value }),
        ...(states.length > 0 ? { states } : {}),
        ...(isFrame ? { frame: frames.push(element) - 1 } : {}),
        ...(isList ? { options: [...element.options].slice(0, 20).map((option) => clean(option.label, 40)) } : {}),
      })
      if (!isFrame && !isList && !isEditable) visitChildren(element, true)
      return
    }
    if (!isHidden && role === 'heading' && !quiet) {
      flush()
      const text = textOf(element, MOST_TEXT)
      const inner = [...element.querySelectorAll('a[href],button')]
      const level = element.getAttribute('aria-level') ?? element.tagName.slice(1)
      const isLink = inner.length === 1 && textOf(inner[0]!, MOST_TEXT) === text
      if (text !== '' && !isLink) add({ role: `heading ${level}`, name: text, inView: sees(element) })
      visitChildren(element, true)
      return
    }
    if (!isHidden && role === 'image' && !quiet) {
      const name = nameOf(element, role)
      if (name === '') return
      flush()
      add({ role, name, inView: sees(element) })
      return
    }
    const { display } = style
    const isInline = display.startsWith('inline') || display === 'contents'
    if (element.tagName === 'BR') pending += ' '
    if (isInline) {
      if (display !== 'inline') pending += ' '
      visitChildren(element, quiet || isHidden)
      return
    }
    const isRow = element.tagName === 'TR' && !element.querySelector('a,button,input,select,textarea,[role],[onclick]')
    flush()
    if (role === 'dialog' || role === 'alertdialog' || role === 'alert')
      add({ role, name: nameOf(element, 'dialog'), inView: true })
    if (isRow && !quiet && !isHidden) {
      const cells = [...element.children].map((cell) => textOf(cell, MOST_NAME))
      if (cells.some((cell) => cell !== '')) add({ role: 'row', name: cells.join(' | '), inView: sees(element) })
      return
    }
    visitChildren(element, quiet || isHidden)
    flush()
  }
  const root = scope === undefined ? document.documentElement : find(scope)
  if (root) visit(root, false)
  flush()
  nodes = nodes.filter((node, at) => !isLabel(node, nodes[at + 1]) && !isLabel(node, nodes[at - 1]))
  const { scrollY: y, innerHeight: viewport } = window
  const height = document.documentElement?.scrollHeight ?? 0
  return {
    nodes,
    next,
    title: clean(document.title, MOST_NAME),
    url: location.href,
    scroll: { y, height, viewport },
    isCut: nodes.length >= max,
    contentType: document.contentType,
  }
}
