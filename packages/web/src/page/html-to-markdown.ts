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
/** Shorter than this, what was taken for the text of a page may be a part of it. */
const SHORT = 250
/** What was taken for the text has at least this share of all there is; else it is a part. */
const LEAST_SHARE = 0.3

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
  const isPart = text.length < SHORT || (article?.textContent ?? '').replace(/\s+/g, ' ').length < all * LEAST_SHARE
  const rest = isPart ? toMarkdown(withoutAround(whole)) : text
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

function load(html: string, url: string): PageDocument {
  // The parser makes no element that a page leaves out.
  const inner = html.replace(/<!doctype[^<>]*>|<\/?(?:html|head)\b[^<>]*>/gi, '')
  const { document } = parseHTML(/<body\b/i.test(html) ? html : `<!doctype html><html><body>${inner}</body></html>`)
  prepareCode(document)
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

/** Code keeps its lines, whatever colours it has, and buttons beside it go. */
function prepareCode(document: PageDocument): void {
  for (const pre of document.querySelectorAll('pre')) {
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
  const named = document.querySelector('meta[property="og:title"]')?.getAttribute('content')
  return (named || document.querySelector('title')?.textContent || document.querySelector('h1')?.textContent || '')
    .replace(/\s+/g, ' ')
    .trim()
}

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
  return (body?.textContent ?? '').replace(/\s+/g, ' ').trim()
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

function withoutAround(document: PageDocument): PageElement {
  const main = document.querySelectorAll('main, [role="main"]')
  const from = main.length === 1 ? main[0]! : document.body
  for (const element of from.querySelectorAll(`${NO_TEXT}, ${AROUND}, noscript`)) element.remove()
  return from
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
