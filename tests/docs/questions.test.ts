import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What a newcomer wants to know, the word they would look for, and the file or folder that is the answer. */
interface Question {
  readonly question: string
  readonly word: string
  readonly answer: string
}

const root = join(import.meta.dirname, '../..')
const questions: readonly Question[] = JSON.parse(readFileSync(join(import.meta.dirname, 'questions.json'), 'utf8'))
const MOST_MISSES = 3

const lines = ['README.md', ...globSync('docs/*.md', { cwd: root }), ...globSync('docs/guides/*.md', { cwd: root })]
  .flatMap((path) => readFileSync(join(root, path), 'utf8').split('\n'))
  .map((line) => line.toLowerCase())

/** Who looks at the names of files and folders sees the word there, else one line of the documentation has both the word and the place. */
function isFound({ word, answer }: Question): boolean {
  const isInTree = answer.replaceAll(/[-/]/g, ' ').includes(word)
  const place = answer.toLowerCase()
  return isInTree || lines.some((line) => line.includes(word) && line.includes(`\`${place}`))
}

describe('thirty questions of a newcomer', () => {
  it('name places that exist', () => {
    expect(questions).toHaveLength(30)
    expect(questions.filter(({ answer }) => !existsSync(join(root, answer)))).toEqual([])
  })

  it('are answered by the names of files, the README and docs, without a search through the sources', () => {
    const missed = questions.filter((question) => !isFound(question)).map(({ question }) => question)
    expect(missed.length, `Not found: ${missed.join(' ')}`).toBeLessThanOrEqual(MOST_MISSES)
  })
})
