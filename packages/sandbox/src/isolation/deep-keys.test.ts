import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Bounds } from './bounds.js'

const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n'

function setUp() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'hermes-deep-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  put('work/a', '')
  const bounds = new Bounds({ cwd: join(home, 'work'), home, temp: [], isolation: {} })
  onTestFinished(() => bounds.close())
  const hidden = () => bounds.hiddenHome('/usr/bin').unknown.map((path) => path.slice(home.length + 1))
  return { put, hidden }
}

it('hides files of keys deep in harmless folders, and those that come later', () => {
  const { put, hidden } = setUp()
  put('.vim/plugged/sync/id_rsa', KEY)
  put('.config/git/work/deploy.pem', KEY)
  expect(hidden()).toEqual(expect.arrayContaining([expect.stringMatching(/^\.vim\/plugged\/sync\/id_rsa$/)]))
  expect(hidden()).toContain('.config/git/work/deploy.pem')
  put('.vim/plugged/sync/api-token', 'ghp_0123456789abcdefghijABCDEFGHIJ012345')
  expect(hidden()).toContain('.vim/plugged/sync/api-token')
})

it('leaves certificates, programs and what only has the name of keys in sight', () => {
  const { put, hidden } = setUp()
  put('.vim/a/cacert.pem', '-----BEGIN CERTIFICATE-----\nMIID\n')
  put('.vim/a/token', 'the word of a grammar')
  put('.vim/node_modules/m/id_rsa', KEY)
  put('.vim/a/notes.txt', KEY)
  expect(hidden()).toEqual([])
})

it('looks at a limited number of folders, those nearest first', () => {
  const { put, hidden } = setUp()
  put('.vim/near/id_rsa', KEY)
  for (let at = 0; at < 500; at++) put(`.vim/many/${at}/deep/x`, '')
  put('.vim/many/499/deep/id_rsa', KEY)
  expect(hidden()).toEqual(['.vim/near/id_rsa'])
})
