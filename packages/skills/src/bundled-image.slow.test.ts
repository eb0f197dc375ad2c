// The image that write-dockerfile tells how to write is built by a real engine, out of the text of the skill.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { dockerMissing, needs, startDockerEngine } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { BUNDLED_BODIES } from './generated/bundled-bodies.js'

needs(dockerMissing())('write-dockerfile', () => {
  it('builds an image that has the sources, no key, and runs as another user than root', async () => {
    const engine = await startDockerEngine()
    onTestFinished(() => engine.stop())
    const body = BUNDLED_BODIES.get('write-dockerfile')!
    const [, dockerfile = ''] = /```dockerfile\n([\s\S]*?)```/.exec(body)!
    const [, ignore = ''] = /^ *(printf .*> \.dockerignore)$/m.exec(body)!
    const put = async (files: Readonly<Record<string, string>>) => {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(engine.directory, path)), { recursive: true })
        await writeFile(join(engine.directory, path), text)
      }
    }
    const sh = (folder: string, command: string) =>
      execFileSync('sh', ['-c', command], {
        cwd: join(engine.directory, folder),
        env: { ...engine.env, DOCKER_BUILDKIT: '0' },
        encoding: 'utf8',
        stdio: 'pipe',
      })
    // Stands for the image that the skill begins with: nothing is fetched here.
    await put({
      'base/Dockerfile': `FROM ${engine.image}\nCOPY passwd /etc/passwd\nCOPY node /bin/node\nRUN chmod 755 /bin/node\n`,
      'base/passwd': 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/:/bin/sh\n',
      'base/node': '#!/bin/sh\nid -un; cat "$1"; ls -A /app\n',
    })
    sh('base', 'docker build -t node:24-slim .')
    await put({
      'app/Dockerfile': dockerfile.replace(/^ {3}/gm, ''),
      'app/.env': 'KEY=1\n',
      'app/package.json': '{}\n',
      'app/src/server.mjs': 'up\n',
    })
    sh('app', ignore)
    const [build, run, inspect] = ['build -t app .', 'run --rm app', 'image inspect -f '].map((start) => {
      const at = body.indexOf(`\`docker ${start}`)
      return body.slice(at + 1, body.indexOf('`', at + 1))
    })
    sh('app', build!)
    expect(sh('app', run!)).toBe('node\nup\npackage.json\nsrc\n')
    expect(sh('app', inspect!)).toMatch(/^\d+ node\n$/)
    expect(sh('app', 'docker history --no-trunc app')).not.toContain('KEY')
  }, 60_000)
})
