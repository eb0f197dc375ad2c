import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { tableToMarkdown } from './table-to-markdown.js'

/** What a page says, without what is around it. */
export interface PageText {
  /** Empty where the page has none. */
  readonly title: string
  /** As Markdown. */
  readonly text: string
  /** Its text is made by scripts, which nobody ran: what is here is little or nothing of it. */
  readonly needsScripts: boolean
}

/** Pages of people stay below a hundred. Where there are more, the parts of a page are found by walking, and that is done again and again. */
const MAX_DEPTH = 500
/** Characters of white space in a row that a page keeps. */
const LONGEST_GAP = 500
/** @see https://dom.spec.whatwg.org/#interface-nodefilter */
const TEXT_NODES = 4
/** Shorter than this, what was taken for the text of a page may be a part of it. */
const SHORT = 250
/** What was taken for the text has at least this share of what there is; else it is a part. The surer the place of the text, the larger. */
const LEAST_SHARE = { page: 0.3, content: 0.6, main: 0.8 }

/**
 * The text of a page: the article in it where there is one, else all that is no menu. Addresses are made absolute by `url`; pictures that
 * stand in the page itself become their description.
 */
export function htmlToMarkdown(html: string, url: string): PageText {
  const whole = load(html, url)
  const title = titleOf(whole)
  if (tooDeep(whole)) return { title, text: plainText(whole), needsScripts: false }
  const scripted = isScripted(whole)
  const all = plainText(whole).length
  const article = articleOf(html, url)
  const text = article === null ? '' : toMarkdown(article)
  const place = placeOfText(whole)
  const least = place.kind === 'page' ? all : lineOf(place.element.textContent).length
  const isPart =
    text.length < SHORT ||
    lineOf(article?.textContent).length < least * LEAST_SHARE[place.kind] ||
    blocksIn(article) < blocksIn(place.element)
  const rest = isPart ? toMarkdown(place.element) : text
  const best = rest.length > text.length ? rest : text
  return { title, text: best, needsScripts: scripted && best.length < SHORT }
}

type PageDocument = ReturnType<typeof parseHTML>['document']
type PageElement = NonNullable<ReturnType<PageDocument['querySelector']>>

/** What says that something is not shown, or that belongs to no text. */
const NO_TEXT =
  'script, style, template, svg, iframe, object, embed, [hidden], [aria-hidden="true"], input, select, button, dialog'
/** What stands around the text of a page. */
const AROUND =
  'nav, footer, aside, [role="navigation"], [role="banner"], [role="contentinfo"], [role="complementary"], [role="search"]'

/** Names of what stands around a text in pages that have no elements for it. */
const JUNK =
  /^(?:breadcrumbs?|cookies?|share|social|newsletter|related|recommendations|advert|advertisement|ads?|promo|popup|sponsored|affiliate|foot|footer|pagination|pager|rating|btn|button|votecell|post-menu|post-meta|skip|sidebar|widget|masthead|navbar|comments|comments-area|disqus_thread|apply|infobox-nav)(?:[-_](?:bar|banner|box|buttons?|links?|list|signup|meta|area|menu|nav|bottom|main|wrapper|thread))*$/i
/** A part with more words is no such thing, whatever it is called. */
const MOST_JUNK = 600

/** Takes away what is named as something beside the text. */
function removeJunk(document: PageDocument): void {
  for (const element of document.querySelectorAll('nav, [role="navigation"], body > header, body > footer'))
    if (element.querySelector('h1') === null) element.remove()
  for (const element of document.querySelectorAll('[class], [id]')) {
    const names = `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`
      .slice(0, 500)
      .split(/\s+/)
    const isJunk = names.some((name) => JUNK.test(name)) && element.querySelector('h1') === null
    if (isJunk && (element.textContent ?? '').length < MOST_JUNK) element.remove()
  }
}

function load(html: string, url: string): PageDocument {
  // The parser makes no element that a page leaves out.
  const inner = html.replace(/<!doctype[^<>]*>|<\/?(?:html|head)\b[^<>]*>/gi, '')
  const { document } = parseHTML(/<body\b/i.test(html) ? html : `<!doctype html><html><body>${inner}</body></html>`)
  shortenGaps(document)
  prepareCode(document)
  removeJunk(document)
  for (const [selector, name] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const)
    for (const element of document.querySelectorAll(selector)) {
      const absolute = URL.parse(element.getAttribute(name) ?? '', url)
      if (absolute && /^https?:$/.test(absolute.protocol)) element.setAttribute(name, absolute.href)
      else if (name === 'href') element.removeAttribute(name)
    }
  return document
}

/** Turndown takes time by the square of a gap's length, and makes one of the plain spaces between words alone. */
function shortenGaps(document: PageDocument): void {
  // The parser parts texts at each entity.
  document.body.normalize()
  const walker = document.createTreeWalker(document, TEXT_NODES)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text: string = node.textContent ?? ''
    const short = text.replace(/\s+/g, (gap) => gap.slice(0, LONGEST_GAP).replace(/[^ \t\r\n]/g, ' '))
    if (short !== text) node.textContent = short
  }
}

/** Code keeps its lines, whatever colours it has, and buttons beside it go. */
function prepareCode(document: PageDocument): void {
  // One in another is a part of its text.
  const outer = [...document.querySelectorAll('pre')].filter((pre) => !pre.parentElement?.closest('pre'))
  for (const pre of outer) {
    for (const extra of pre.querySelectorAll('button, .line-numbers, .lineno, .linenos, .gutter')) extra.remove()
    for (const line of pre.querySelectorAll('br')) line.replaceWith('\n')
    const language = languageOf(pre)
    const code = document.createElement('code')
    if (language !== '') code.setAttribute('class', `language-${language}`)
    code.textContent = pre.textContent
    pre.replaceChildren(code)
  }
}

function languageOf(pre: PageElement): string {
  const near = [pre.querySelector('code'), pre, pre.parentElement, pre.parentElement?.parentElement]
  const classes = near.map((element) => element?.getAttribute('class') ?? '').join(' ')
  return /(?:language|lang|highlight-source|brush:)[-\s]?([\w+#]+)/.exec(classes)?.[1] ?? ''
}

function titleOf(document: PageDocument): string {
  const named = lineOf(
    document.querySelector('meta[property="og:title"]')?.getAttribute('content') ||
      document.querySelector('title')?.textContent,
  )
  const headings = document.querySelectorAll('h1')
  const heading = lineOf(headings.length === 1 ? headings[0]?.textContent : '')
  // Without the name of the site.
  return named === '' || (heading !== '' && named.includes(heading))
    ? heading || lineOf(headings[0]?.textContent)
    : named
}

const lineOf = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim()

function tooDeep(document: PageDocument): boolean {
  let depth = 0
  for (let node: PageElement | null = document.documentElement; node; ) {
    if (depth > MAX_DEPTH) return true
    if (node.firstElementChild) {
      node = node.firstElementChild as PageElement
      depth++
      continue
    }
    while (node && !node.nextElementSibling) {
      node = node.parentElement as PageElement | null
      depth--
    }
    node = (node?.nextElementSibling as PageElement | null) ?? null
  }
  return false
}

/** What is seen of a page, in one line. */
function plainText(document: PageDocument): string {
  const body = document.body?.cloneNode(true) as PageElement | undefined
  for (const element of body?.querySelectorAll(`${NO_TEXT}, ${AROUND}, noscript, header`) ?? []) element.remove()
  return lineOf(body?.textContent)
}

/** A page that holds a place for scripts to write into, and hardly a word. */
function isScripted(document: PageDocument): boolean {
  if (document.querySelector('script[src], script[type="module"]') === null) return false
  const place = document.querySelector(
    '#root, #app, #__next, #__nuxt, #svelte, app-root, [data-reactroot], [ng-version]',
  )
  const asks = [...document.querySelectorAll('noscript')].some(({ textContent }) =>
    /javascript/i.test(textContent ?? ''),
  )
  return place !== null || asks || plainText(document).length < SHORT
}

function articleOf(html: string, url: string): PageElement | null {
  const document = load(html, url)
  const serializer = (node: unknown) => node as PageElement
  const options = { keepClasses: true, charThreshold: SHORT, serializer }
  try {
    return new Readability<PageElement>(document as never, options as never).parse()?.content ?? null
  } catch {
    // It expects more of a document than some pages have.
    return null
  }
}

/** How many pieces of code and tables of data there are: none of them may be lost. */
function blocksIn(element: PageElement | null): number {
  const tables = [...(element?.querySelectorAll('table') ?? [])].filter(
    (table) => table.querySelectorAll('tr').length > 1 && table.querySelector('table, p + p, h1, h2, ul') === null,
  )
  return tables.length + (element?.querySelectorAll('pre').length ?? 0)
}

/** Where the text of a page stands, as surely as the page says, without what is around it. */
function placeOfText(document: PageDocument): {
  readonly kind: keyof typeof LEAST_SHARE
  readonly element: PageElement
} {
  const one = (selector: string) => {
    const found = document.querySelectorAll(selector)
    return found.length === 1 ? found[0]! : null
  }
  const [main, content] = [one('main, [role="main"]'), one('#content, #main')]
  const element = main ?? content ?? document.body
  for (const extra of element.querySelectorAll(`${NO_TEXT}, ${AROUND}, noscript`)) extra.remove()
  return { kind: main ? 'main' : content ? 'content' : 'page', element }
}

function toMarkdown(element: PageElement): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  })
  // It is read, not shown: signs that a page has count as they are.
  service.escape = (text) => text
  service.remove(['script', 'style', 'noscript', 'template'])
  service.addRule('tables', {
    filter: 'table',
    replacement: (content, node) => tableToMarkdown(node, (cell) => service.turndown(cell as never)) ?? content,
  })
  service.addRule('crossed out', { filter: ['del', 's'], replacement: (content) => `~~${content}~~` })
  service.addRule('pictures', {
    filter: 'img',
    replacement: (_, node) => {
      const [alt, src] = ['alt', 'src'].map((name) => (node as unknown as PageElement).getAttribute(name)?.trim() ?? '')
      const isAddress = /^https?:/i.test(src!)
      return alt === '' ? '' : isAddress ? `![${oneLine(alt!)}](${src})` : oneLine(alt!)
    },
  })
  return service.turndown(element as never).trim()
}

const oneLine = (text: string) => text.replace(/[\s[\]]+/g, ' ').trim()
