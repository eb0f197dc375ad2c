import { describe, expect, it } from 'vitest'
import type { PageRequest } from '../guard/document-guard.js'
import type { Tab } from '../session/tab.js'
import { Speech } from './speech.js'

/** A session on two tabs whose pages are what these fields say. */
function setUp() {
  const zone = {}
  const page = (targetId: string) => {
    const one = { targetId, zone, document: 1, isClosed: false }
    const tab = {
      ...{ targetId, zone, documentId: async () => one.document, addresses: async () => [], openSockets: () => [] },
      page: { isClosed: () => one.isClosed, goto: async () => ++one.document },
    }
    return Object.assign(one, { tab: tab as unknown as Tab })
  }
  const pages = [page('A'), page('B')] as const
  const speech = new Speech({
    isTainted: () => true,
    maySpeak: async () => false,
    hold: async () => undefined,
    tabs: () => pages.filter(({ isClosed }) => !isClosed).map(({ tab }) => tab),
  })
  const request = (targetId: string, isDocument: boolean): PageRequest => ({
    ...{ targetId, url: 'http://site.test/x?encoded', method: 'GET', body: null, headers: '' },
    ...{ isDocument, isFrame: false, isRedirect: isDocument },
  })
  return {
    pages,
    speech,
    opens: (id: string) => speech.mayGo(request(id, true)),
    asks: (id: string) => speech.mayGo(request(id, false)),
  }
}

describe('what pages know', () => {
  it('holds a page for one made of it also after another tab opened a page', async () => {
    const { pages, speech, opens, asks } = setUp()
    await speech.give(pages[0].tab, 'opal kestrel')
    expect(await opens('B')).toBe(true)
    pages[0].document = 2
    expect(await asks('A')).toBe(false)
    expect(await opens('A')).toBe(true)
    pages[0].document = 3
    expect(await asks('A')).toBe(true)
  })

  it('goes on to other tabs when the agent closes the one that got it, or opens another page there', async () => {
    for (const way of ['close', 'leave']) {
      const { pages, speech, asks } = setUp()
      await speech.give(pages[1].tab, 'opal kestrel')
      if (way === 'close') pages[1].isClosed = true
      else await speech.leave(pages[1].tab)
      expect(await asks('A'), way).toBe(false)
    }
  })
})
