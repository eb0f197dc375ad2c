import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { hasTmux } from '../support/terminal.js'

const script = resolve(import.meta.dirname, '../../scripts/picture.mjs')

needs('tmux', hasTmux)('the picture of the README', () => {
  it('shows a real run, from the request to the question before the push', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hermes-picture-test-'))
    try {
      execFileSync(process.execPath, [script, join(folder, 'picture.svg')])
      const svg = readFileSync(join(folder, 'picture.svg'), 'utf8')
      const rows = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((match) => match[1])
      expect(rows).toContain('A test in this folder fails. Fix it and push the branch.')
      // The changed words of the line are texts of their own.
      expect(rows.join(' ')).toContain("+ .replace(/^- |-$ / g , '')")
      expect(rows.join(' ')).toMatch(/✓ terminal node slug\.test\.js · \d+ ms/)
      expect(rows).toContain('[n] no')
      expect(svg).toMatch(/<text[^>]* fill="#7ee787">\+/)
      expect(svg).not.toContain(tmpdir())
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
