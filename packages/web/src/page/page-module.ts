import type { PageText } from './html-to-markdown.js'

/** Where this module is, for the thread that runs it. */
export const pageModule = import.meta.url

/** The text of a page. The libraries it needs are loaded here. */
export async function readHtml(html: string, url: string): Promise<PageText> {
  return (await import('./html-to-markdown.js')).htmlToMarkdown(html, url)
}
