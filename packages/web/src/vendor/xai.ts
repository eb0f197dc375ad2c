import type { JsonObject } from '@hermes/contracts'
import type { SearchVendor } from '../search/search-vendor.js'
import { objectsIn } from '../search/search-vendor.js'

/** Its model searches and answers; the pages that the answer names are what was found. */
export const xaiSearch: SearchVendor = {
  most: 30,
  request: (query, limit) => ({
    path: '/responses',
    body: {
      model: 'grok-4.5',
      store: false,
      input: [
        {
          role: 'user',
          content: `Search the web for: ${query}\n\nName up to ${limit} pages, the best first, one a line, each with one sentence on what it says about that.`,
        },
      ],
      tools: [{ type: 'web_search' }],
    },
  }),
  hits: (answer) =>
    citationsIn(answer).map(({ url, title, text, start }) => ({
      title: title === '' || /^\d+$/.test(title) ? (URL.parse(url)?.hostname ?? url) : title,
      url,
      snippet: lineAt(text, start),
    })),
}

/** A page that an answer of the Responses API names. */
interface Citation {
  readonly url: string
  readonly title: string
  /** Of the part of the answer it stands in, and where in it. */
  readonly text: string
  readonly start: number
}

/** The texts of an answer of the Responses API, and what they cite, in order. */
export function citationsIn(answer: JsonObject): readonly Citation[] {
  return outputTexts(answer).flatMap((part) =>
    objectsIn(part['annotations']).flatMap(({ type, url, title, start_index: start }) =>
      type === 'url_citation' && typeof url === 'string'
        ? [
            {
              url,
              title: typeof title === 'string' ? title : '',
              text: String(part['text'] ?? ''),
              start: typeof start === 'number' ? start : 0,
            },
          ]
        : [],
    ),
  )
}

/** The parts of an answer of the Responses API that are text. */
export function outputTexts({ output }: JsonObject): readonly JsonObject[] {
  return objectsIn(output)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => objectsIn(content))
    .filter(({ type }) => type === 'output_text')
}

/** The line around a place in a text, without links and marks. */
function lineAt(text: string, at: number): string {
  const from = text.lastIndexOf('\n', Math.max(0, at - 1)) + 1
  const end = text.indexOf('\n', at)
  return text
    .slice(from, end === -1 ? undefined : end)
    .replace(/\[\[?[^\]]*\]?\]\([^)]*\)/g, '')
    .replace(/[*_`#]+|^\s*[-\d.]+\s/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
