import { expect, it } from 'vitest'
import type { PageNode } from './page-node.js'
import { changeText, lineOf, type Snapshot, shownLines, viewText } from './snapshot-text.js'

const link = (number: number, name: string): PageNode => ({ ref: `e${number}`, role: 'link', name, inView: true })
const HEAD = Array.from({ length: 10 }, (_, at) => link(at + 1, `Part ${at}`))
const heading = (name: string): PageNode => ({ role: 'heading 1', name, inView: true })

function snapshot(url: string, nodes: readonly PageNode[], shown: readonly string[] = []): Snapshot {
  return {
    ...{ nodes, lines: nodes.map(lineOf), url, title: 'T', isCut: false, contentType: 'text/html' },
    ...{ scroll: { y: 0, height: 800, viewport: 800 }, shown: new Set(shown) },
  }
}

it('leaves out the head of a site only where an answer held it', () => {
  const first = snapshot('https://a.test/1', [...HEAD, heading('One')])
  const answer = viewText(first)
  const next = [...HEAD.map((node, at) => ({ ...node, ref: `e${at + 50}` })), heading('Two')]
  expect(viewText(snapshot('https://a.test/2', next, shownLines(answer)), first)).toBe(
    'T — …/2\n(10 lines as before, e50 to e59)\nheading 1 "Two"',
  )
  // The page was looked at for another purpose, or nine of its lines were cut off.
  for (const shown of [[], shownLines(answer).slice(0, 2)])
    expect(viewText(snapshot('https://a.test/2', next, shown), first)).toContain('[e51] link "Part 1"')
})

it('shows rows alike as lines, says what their parts are once, and counts what it leaves out', () => {
  const rows = Array.from({ length: 30 }, (_, at): readonly PageNode[] => [
    { ...link(3 * at + 1, `Thing ${at}`), row: [1, at] },
    { role: 'text', name: `${at} EUR`, inView: true, row: [1, at] },
    { ref: `e${3 * at + 2}`, role: 'button', name: 'Add', inView: true, row: [1, at] },
  ])
  const below = { ...link(900, 'Below'), inView: false }
  expect(viewText(snapshot('https://a.test/', [...rows.flat(), below])).split('\n')).toEqual([
    'T — https://a.test/',
    '[e1] link "Thing 0"; 0 EUR; [e2] button "Add"',
    ...Array.from(
      { length: 7 },
      (_, at) => `[e${3 * at + 4}] "Thing ${at + 1}"; ${at + 1} EUR; [e${3 * at + 5}] "Add"`,
    ),
    '… 22 more rows (e25 to e89): find="text"',
    '(below: 1 line, 1 link: browser_scroll or more=1)',
  ])
  // Rows of other parts say what these are.
  const mixed = rows.map((row, at) => (at === 2 ? row.slice(1) : row)).slice(0, 6)
  const lines = viewText(snapshot('https://a.test/', mixed.flat())).split('\n')
  expect(lines.slice(3, 5)).toEqual(['2 EUR; [e8] button "Add"', '[e10] link "Thing 3"; 3 EUR; [e11] button "Add"'])
})

it('says one change in one line', () => {
  const before = snapshot('https://a.test/', [link(1, 'On'), heading('One')])
  expect(changeText(before, snapshot('https://a.test/', [link(1, 'Off'), heading('One')]))).toBe(
    'Changed: [e1] link "Off"',
  )
  expect(changeText(before, snapshot('https://a.test/', [heading('One'), link(2, 'New')]))).toBe(
    'Changed:\n+ [e2] link "New"\n- [e1] link "On"',
  )
})
