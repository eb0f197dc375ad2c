// Real providers, each with the key that the environment holds for it; without one it is listed as not run. Costs a few thousand tokens
// each. HERMES_LIVE_MODEL names another model than the provider's default.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROVIDERS } from '@hermes/transports'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const MODEL = process.env['HERMES_LIVE_MODEL']
const WORD = 'aardvark'

describe('a live provider', () => {
  const keyed = PROVIDERS.filter(
    ({ auth, keyRequired, defaultModel }) => auth === 'key' && keyRequired && (MODEL ?? defaultModel) !== undefined,
  )
  for (const { id, baseUrlVariable = '', keyVariables, sharedKeyVariables, defaultModel } of keyed) {
    const variables = [...keyVariables, ...sharedKeyVariables]
    const found = variables.find((name) => process.env[name])
    const names = [baseUrlVariable, found ?? ''].filter((name) => process.env[name])
    const env = Object.fromEntries(names.map((name) => [name, process.env[name]!]))
    const chat = (...args: readonly string[]) =>
      runCli(['chat', '--provider', id, '-m', MODEL ?? defaultModel!, ...args], { ...scene, env })

    it.runIf(found !== undefined)(
      `${id} uses a tool and goes on in a new process (needs ${variables.join(' or ')})`,
      async () => {
        await writeFile(join(scene.cwd, 'note.txt'), `${WORD}\n`)
        const first = await chat(
          '-q',
          'Read note.txt with a tool. Answer with the one word that is in it, nothing else.',
        )
        expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(new RegExp(WORD, 'i')) })
        const second = await chat('-c', '-q', 'Which word was it? Answer with the word alone.')
        expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(new RegExp(WORD, 'i')) })
        expect(first.stderr + second.stderr).not.toContain(env[found!]!)
      },
      180_000,
    )
  }
})
