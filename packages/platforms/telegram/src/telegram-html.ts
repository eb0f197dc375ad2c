import { type MarkedToken, marked, type Token, type Tokens } from 'marked'

const BULLETS = ['•', '◦', '▪']

/**
 * Markdown as Telegram shows it. What its HTML has no tag for stays as text.
 * @see https://core.telegram.org/bots/api#html-style
 */
export function toTelegramHtml(markdown: string): string {
  return blocks(marked.lexer(markdown, { gfm: true }), 0).trim()
}

/**
 * What a rich message reads as something else: pictures, which Telegram would fetch from wherever they are, tags, formulas, and signs of
 * its own dialect.
 */
const OF_RICH_MESSAGES = /!\[|[<$]|\|\||==|tg:/

/** Whether it has a table, which HTML has no tag for, and nothing that a rich message would show otherwise. */
export function isForRichMessage(markdown: string): boolean {
  if (OF_RICH_MESSAGES.test(markdown)) return false
  return marked.lexer(markdown, { gfm: true }).some(({ type }) => type === 'table')
}

function blocks(tokens: readonly Token[], depth: number): string {
  return tokens.map((token) => block(token as MarkedToken, depth)).join('')
}

function block(token: MarkedToken, depth: number): string {
  switch (token.type) {
    case 'space':
      return ''
    case 'heading':
      return `<b>${inline(token.tokens)}</b>\n\n`
    case 'paragraph':
      return `${inline(token.tokens)}\n\n`
    case 'text':
      return `${'tokens' in token && token.tokens ? inline(token.tokens) : escaped(token.text)}\n`
    case 'code':
      return `${code(token)}\n\n`
    case 'blockquote':
      // Telegram has no quote within a quote.
      return `<blockquote>${blocks(token.tokens, depth)
        .replaceAll(/<\/?blockquote>/g, '')
        .trim()}</blockquote>\n\n`
    case 'list':
      return `${list(token, depth)}${depth === 0 ? '\n' : ''}`
    case 'hr':
      return '———\n\n'
    case 'table':
      return `<pre>${escaped(token.raw.trim())}</pre>\n\n`
    default:
      return escaped(token.raw)
  }
}

function list({ items, ordered, start }: Tokens.List, depth: number): string {
  const first = Number(start) || 1
  return items
    .map((item, index) => {
      const bullet = ordered ? `${first + index}.` : BULLETS[Math.min(depth, BULLETS.length - 1)]
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : ''
      const text = blocks(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        depth + 1,
      ).trim()
      return `${'  '.repeat(depth)}${bullet} ${box}${text}\n`
    })
    .join('')
}

function code({ text, lang = '' }: Tokens.Code): string {
  const language = lang.split(/\s/, 1)[0]!
  const isName = /^[\w+#.-]+$/.test(language)
  return isName
    ? `<pre><code class="language-${escaped(language)}">${escaped(text)}</code></pre>`
    : `<pre>${escaped(text)}</pre>`
}

function inline(tokens: readonly Token[]): string {
  return tokens.map((token) => span(token as MarkedToken)).join('')
}

function span(token: MarkedToken): string {
  switch (token.type) {
    case 'strong':
      return `<b>${inline(token.tokens)}</b>`
    case 'em':
      return `<i>${inline(token.tokens)}</i>`
    case 'del':
      return `<s>${inline(token.tokens)}</s>`
    case 'codespan':
      return `<code>${escaped(token.text)}</code>`
    case 'br':
      return '\n'
    case 'link':
      return isAddress(token.href) ? `<a href="${escaped(token.href)}">${inline(token.tokens)}</a>` : escaped(token.raw)
    case 'image':
      return isAddress(token.href)
        ? `<a href="${escaped(token.href)}">${escaped(token.text || token.href)}</a>`
        : escaped(token.raw)
    case 'escape':
      return escaped(token.text)
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : escaped(token.text)
    default:
      return escaped(token.raw)
  }
}

function isAddress(href: string): boolean {
  return /^(?:https?|tg|mailto):/i.test(href)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
