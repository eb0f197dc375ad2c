import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ApptainerImage, apptainerMissing, makeApptainerImage } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { temporaryFolders } from '../testing/temporary-folders.js'
import { openSingularityEnvironment, probeSingularity, type SingularityOptions } from './open-singularity.js'

// The engine is in few distributions and starts containers only for plain users: without it these tests are skipped, even in CI.
const PROGRAM = process.env['HERMES_TEST_APPTAINER']
const missing = apptainerMissing(PROGRAM)

describe.skipIf(missing !== null)(
  `in a container of apptainer${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    let image: ApptainerImage
    beforeAll(async () => {
      image = await makeApptainerImage(PROGRAM)
    })
    afterAll(async () => {
      for (const name of instances()) if (name.includes(`-${process.pid}-`)) engine('instance', 'stop', '--force', name)
      await image.remove()
    })

    const folder = temporaryFolders('hermes-singularity-out-')

    async function create(more: Partial<SingularityOptions> = {}) {
      const outputDir = await folder()
      const target = { program: image.program, clientEnv: image.env, image: image.image }
      const environment = await openSingularityEnvironment({ ...target, cwd: '/workspace', outputDir, ...more })
      return { environment, dispose: () => environment.close() }
    }
    const engine = (...args: string[]) => execFileSync(image.program, args, { env: image.env, encoding: 'utf8' })
    const instances = () => [...engine('instance', 'list').matchAll(/hermes-\d+-[0-9a-f]{8}/g)].map(([name]) => name)

    testEnvironment({ name: 'singularity', create })

    describe('singularity environment', () => {
      it('shares nothing with the machine but what is mounted', async () => {
        const folder = join(image.directory, 'mounted')
        await mkdir(folder)
        await writeFile(join(folder, 'file'), 'from outside\n')
        const mounts = [{ source: folder, target: '/mounted', readOnly: true }]
        const { run, environment } = await harness(() => create({ mounts, network: false, env: { NAME: 'value' } }))
        const { output } = await run(
          'cat /mounted/file; touch /mounted/x; grep -c : /proc/net/dev; ls /tmp | grep -v hermes-; env',
        )
        expect(output).toMatch(/^from outside\n.*Read-only file system\n1\n/)
        expect(output).toContain('NAME=value')
        expect(output).not.toContain(`TMPDIR=${image.directory}`)
        expect(environment.capabilities).toEqual({ background: true, pty: false, isolated: true })
      })

      it('ends with the environment', async () => {
        const before = instances()
        const { environment } = await harness(create)
        const [name, ...more] = instances().filter((one) => !before.includes(one))
        expect([name, more]).toEqual([expect.stringMatching(`^hermes-${process.pid}-`), []])
        await environment.close()
        expect(instances()).not.toContain(name)
      })

      it('says what is wrong with an image, and whether the engine is there', async () => {
        await expect(create({ image: '/no/such.sif' })).rejects.toMatchObject({ code: 'environment.image_missing' })
        await expect(create({ image: '--help' })).rejects.toMatchObject({ code: 'environment.invalid_image' })
        expect(await probeSingularity({ program: image.program, clientEnv: image.env })).toMatchObject({ ready: true })
        expect(await probeSingularity({ program: 'no-such', clientEnv: image.env })).toMatchObject({ ready: false })
      })
    })
  },
)
