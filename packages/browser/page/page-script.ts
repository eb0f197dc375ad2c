import type { PageScript } from '../src/page/page-node.js'
import { choose, fill, focus, locate, scroll } from './act.js'
import { collect, frames } from './collect.js'
import { clean, find, MOST_NAME } from './elements.js'
import { label, unlabel } from './label.js'

/**
 * Runs in an isolated world of each document: it sees the page, and the page's scripts see nothing of it. Its text and that of the files beside
 * it is what is sent, so they use nothing from outside this folder; `pnpm gen` writes that text to src/generated.
 */
export function pageScript(): PageScript {
  return {
    collect,
    locate,
    focus,
    fill,
    choose,
    scroll,
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
    documentId: () => performance.timeOrigin,
    addresses: ({ max }) => {
      const named = [...document.querySelectorAll('a[href], area[href], form[action], img[src], link[href]')]
      return named
        .slice(0, max)
        .map((element) =>
          'action' in element ? element.action : 'href' in element ? element.href : element.getAttribute('src'),
        )
        .filter((address) => typeof address === 'string')
        .map((address) => new URL(address, document.baseURI).href)
    },
    isReady: () => document.readyState !== 'loading',
    shows: ({ text }) => {
      const wanted = text.toLowerCase()
      // What stands in fields is no text of the page, and is drawn all the same.
      const fields = [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')]
      const isDrawn = (field: HTMLInputElement | HTMLTextAreaElement) =>
        field.type !== 'password' && field.type !== 'hidden'
      return (
        (document.body?.innerText.toLowerCase().includes(wanted) ?? false) ||
        fields.some((field) => isDrawn(field) && field.value.toLowerCase().includes(wanted))
      )
    },
    origin: () => location.origin,
    label,
    unlabel,
  }
}
