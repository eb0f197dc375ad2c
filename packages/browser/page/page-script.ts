import type { Chosen, Focused, Found, Located, PageNode, PageScript } from '../src/page/page-node.js'

/**
 * Runs in an isolated world of each document: it sees the page, and the page's scripts see nothing of it. Its text is what is sent, so it
 * uses nothing from outside itself; `pnpm gen` writes that text to src/generated.
 */
export function pageScript(): PageScript {
  const MOST_TEXT = 300
  const MOST_NAME = 120
  const ALIKE = 5
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'OBJECT', 'EMBED'])
  const WIDGETS = new Set(
    'button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option combobox textbox searchbox spinbutton slider treeitem gridcell'.split(
      ' ',
    ),
  )
  const INPUTS: Record<string, string> = {
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
  const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number', ''])

  const refs = new WeakMap<Element, string>()
  const elements = new Map<string, WeakRef<Element>>()
  let frames: Element[] = []
  let next = 1

  const clean = (text: string, most: number) => {
    const flat = text.replace(/\s+/g, ' ').trim()
    return flat.length > most ? `${flat.slice(0, most)}…` : flat
  }
  const refOf = (element: Element): string => {
    const known = refs.get(element)
    if (known !== undefined) return known
    const ref = `e${next++}`
    refs.set(element, ref)
    elements.set(ref, new WeakRef(element))
    return ref
  }
  const find = (ref: string): Element | null => {
    const element = elements.get(ref)?.deref()
    return element?.isConnected ? element : null
  }
  const childrenOf = (element: Element): readonly Node[] => {
    if (element.shadowRoot) return [...element.shadowRoot.childNodes]
    if (element instanceof HTMLSlotElement) {
      const assigned = element.assignedNodes()
      if (assigned.length > 0) return assigned
    }
    return [...element.childNodes]
  }
  const parentOf = (element: Element): Element | null => {
    const root = element.getRootNode()
    return element.assignedSlot ?? element.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
  }
  const roleOf = (element: Element): string => {
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
  const textOf = (element: Element, most: number): string => {
    let text = ''
    const visit = (node: Node): void => {
      if (text.length > most * 2) return
      if (node instanceof Text) text += node.data
      else if (node instanceof Element) {
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
    const ids = element.getAttribute('aria-labelledby')?.split(/\s+/) ?? []
    const root = element.getRootNode() as Document | ShadowRoot
    return ids
      .map((id) => root.getElementById(id))
      .map((one) => (one ? textOf(one, MOST_NAME) : ''))
      .join(' ')
      .trim()
  }
  const nameOf = (element: Element, role: string): string => {
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
    return textOf(element, MOST_NAME) || clean(element.getAttribute('title') ?? '', MOST_NAME)
  }
  const statesOf = (element: Element): string[] => {
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
  const heldValue = (element: Element, role: string): string | undefined => {
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
  const isActable = (element: Element, role: string, style: CSSStyleDeclaration): boolean => {
    if (element instanceof HTMLInputElement) return element.type !== 'hidden'
    if (WIDGETS.has(role) || role === 'listbox' || role === 'iframe' || role === 'video' || role === 'audio')
      return true
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
  const isInView = (element: Element): boolean => {
    const { top, bottom, left, right } = element.getBoundingClientRect()
    return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
  }

  const collect: PageScript['collect'] = ({ start, scope, max }): Found => {
    next = Math.max(next, start)
    frames = []
    const nodes: PageNode[] = []
    let groups = 0
    let pending = ''
    let pendingAt: Element | null = null
    let row: PageNode['row']
    const add = (node: PageNode) => nodes.push(row ? { ...node, row } : node)
    const flush = () => {
      const text = clean(pending, MOST_TEXT)
      if (text !== '' && pendingAt) add({ role: 'text', name: text, inView: isInView(pendingAt) })
      pending = ''
      pendingAt = null
    }
    const visitChildren = (element: Element, quiet: boolean) => {
      const children = childrenOf(element)
      const tags = new Map<string, number>()
      for (const child of children)
        if (child instanceof Element) tags.set(child.tagName, (tags.get(child.tagName) ?? 0) + 1)
      const alike = row === undefined ? [...tags].find(([, count]) => count > ALIKE)?.[0] : undefined
      const group = alike === undefined ? 0 : ++groups
      let index = 0
      for (const child of children) {
        if (nodes.length >= max) return
        if (child instanceof Text) {
          if (quiet || child.data.trim() === '') {
            if (!quiet && pending !== '') pending += ' '
            continue
          }
          pending += child.data
          pendingAt ??= element
        } else if (child instanceof Element) {
          const isRow = child.tagName === alike
          if (isRow) {
            flush()
            row = [group, index++]
          }
          visit(child, quiet)
          if (isRow) {
            flush()
            row = undefined
          }
        }
      }
    }
    const visit = (element: Element, quiet: boolean): void => {
      if (SKIPPED.has(element.tagName) || element.getAttribute('aria-hidden') === 'true') return
      if (!element.checkVisibility()) return
      const style = getComputedStyle(element)
      const role = roleOf(element)
      const isHidden = style.visibility !== 'visible'
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
          inView: isInView(element),
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
        if (text !== '' && !isLink) add({ role: `heading ${level}`, name: text, inView: isInView(element) })
        visitChildren(element, true)
        return
      }
      if (!isHidden && role === 'image' && !quiet) {
        const name = nameOf(element, role)
        if (name === '') return
        flush()
        add({ role, name, inView: isInView(element) })
        return
      }
      const isInline = style.display.startsWith('inline') || style.display === 'contents'
      if (element.tagName === 'BR') pending += ' '
      if (isInline) {
        if (style.display !== 'inline') pending += ' '
        visitChildren(element, quiet || isHidden)
        return
      }
      const isRow =
        element.tagName === 'TR' && !element.querySelector('a,button,input,select,textarea,[role],[onclick]')
      flush()
      if (role === 'dialog' || role === 'alertdialog' || role === 'alert')
        add({ role, name: nameOf(element, 'dialog'), inView: true })
      if (isRow && !quiet && !isHidden) {
        const cells = [...element.children].map((cell) => textOf(cell, MOST_NAME))
        if (cells.some((cell) => cell !== '')) add({ role: 'row', name: cells.join(' | '), inView: isInView(element) })
        return
      }
      visitChildren(element, quiet || isHidden)
      flush()
    }
    const root = scope === undefined ? document.documentElement : find(scope)
    if (root) visit(root, false)
    flush()
    const { scrollY: y, innerHeight: viewport } = window
    const height = document.documentElement?.scrollHeight ?? 0
    return {
      nodes,
      next,
      title: clean(document.title, MOST_NAME),
      url: location.href,
      scroll: { y, height, viewport },
      isCut: nodes.length >= max,
    }
  }

  const describe = (element: Element): string => {
    const role = roleOf(element) || element.tagName.toLowerCase()
    const name = textOf(element, 60)
    return `${role}${name === '' ? '' : ` "${name}"`}${refs.has(element) ? ` (${refs.get(element)})` : ''}`
  }
  const boxOf = (element: Element): DOMRect | null => {
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
  const frame = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 50)
      requestAnimationFrame(() => {
        clearTimeout(timer)
        resolve()
      })
    })

  const isDisabled = (element: Element) =>
    (/^(?:INPUT|SELECT|TEXTAREA|BUTTON|OPTION)$/.test(element.tagName) && element.matches(':disabled')) ||
    element.getAttribute('aria-disabled') === 'true'

  const locate = async (ref: string): Promise<Located> => {
    const element = find(ref)
    if (!element) return { type: 'gone' }
    if (isDisabled(element)) return { type: 'disabled' }
    let box = boxOf(element)
    if (!box || !element.checkVisibility({ visibilityProperty: true })) return { type: 'hidden' }
    const isOut = (rect: DOMRect) =>
      rect.top < 0 || rect.bottom > innerHeight || rect.left < 0 || rect.right > innerWidth
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

  const focus: PageScript['focus'] = (ref, { value }): Focused => {
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

  const choose: PageScript['choose'] = (ref, { values }): Chosen => {
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

  const scroll: PageScript['scroll'] = ({ ref, by }) => {
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

  return {
    collect,
    locate,
    focus,
    choose,
    scroll,
    element: find,
    frameAt: (index) => frames[index] ?? null,
    frameBox: (ref) => {
      const element = find(ref)
      if (!element) return null
      const box = element.getBoundingClientRect()
      const { paddingLeft, paddingTop } = getComputedStyle(element)
      return {
        x: box.x + element.clientLeft + Number.parseFloat(paddingLeft),
        y: box.y + element.clientTop + Number.parseFloat(paddingTop),
      }
    },
    images: ({ max }) =>
      [...document.images]
        .filter((image) => image.checkVisibility() && image.src !== '')
        .slice(0, max)
        .map((image) => ({
          src: image.currentSrc || image.src,
          alt: clean(image.alt, MOST_NAME),
          width: image.naturalWidth,
          height: image.naturalHeight,
        })),
    isReady: () => document.readyState !== 'loading',
    shows: ({ text }) => document.body?.innerText.toLowerCase().includes(text.toLowerCase()) ?? false,
    boxes: () =>
      [...elements].flatMap(([ref, weak]) => {
        const element = weak.deref()
        if (!element?.isConnected || !isInView(element)) return []
        const box = boxOf(element)
        return box ? [{ ref, x: box.x, y: box.y, width: box.width, height: box.height }] : []
      }),
  }
}
