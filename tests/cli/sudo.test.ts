// A command with sudo at the keyboard: the person approves it and types a password that nobody gets to see.
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()

const SUDO = `#!/bin/sh
[ "$1" = -A ] || exit 1
shift
[ "$("$SUDO_ASKPASS")" = 'correct horse' ] || exit 1
exec "$@"
`

needs('tmux', hasTmux)('sudo at the keyboard', () => {
  it('takes a password that is neither shown nor sent', async () => {
    const bin = join(scene.cwd, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'sudo'), SUDO)
    await chmod(join(bin, 'sudo'), 0o755)
    const command = 'sudo expr 40 + 2; "$SUDO_ASKPASS"'
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command } }] }, { text: 'Done.' })
    const env = { PATH: `${bin}:${process.env['PATH']}` }
    await using terminal = await openTerminal(['--base-url', scene.server.baseUrl, '-m', 'test'], {
      ...scene,
      columns: 100,
      env,
    })
    await terminal.shows(/\n>$/)
    await terminal.type('Become root.')
    await terminal.press('Enter')
    await terminal.shows('❯ [y] yes, once')
    await terminal.press('Enter')
    await terminal.shows('Password for sudo')
    await terminal.type('correct horse')
    expect(await terminal.shows('•'.repeat(13))).not.toContain('correct')
    await terminal.press('Enter')
    expect(await terminal.shows(/Done\.\n>$/)).not.toContain('correct horse')
    const sent = JSON.stringify(scene.server.requests.map(({ body }) => body))
    expect(sent).toContain('42\\n[REDACTED]')
    expect(sent).not.toContain('correct horse')
  })
})
