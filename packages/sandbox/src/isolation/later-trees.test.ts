// Repositories and working trees that commands make after the environment was opened.
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { harness } from '../testing/harness.js'
import { isolated } from './__fixtures__/isolated.js'
import { probeIsolation } from './isolation-support.js'

const AS_ADA = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b'

needs((await probeIsolation()) ?? missingPrograms('git'))('isolated', () => {
  it('git init and git worktree add get their folders within the workspace, and none beyond it', async () => {
    const opened = await isolated()
    const { at } = opened
    const { run } = await harness(async () => opened)
    const succeeds = async (command: string) => {
      const { exitCode, output } = await run(command)
      expect([command, exitCode, output]).toEqual([command, 0, expect.anything()])
    }
    await succeeds(`${AS_ADA}; git init -q . && git commit -q --allow-empty -m first`)
    await succeeds('git worktree add -q inner && cd inner && git commit -q --allow-empty -m second && cd ..')
    expect(await readFile(at('home/work/inner/.git'), 'utf8')).toBe(`gitdir: ${at('home/work/.git/worktrees/inner')}\n`)
    expect(existsSync(at('home/work/.git/refs/heads/inner'))).toBe(true)

    expect((await run('git worktree add -q ../outer')).exitCode).not.toBe(0)
    await mkdir(at('home/beside'))
    expect((await run('git init -q ../beside')).exitCode).not.toBe(0)
    expect([existsSync(at('home/outer')), existsSync(at('home/beside/.git'))]).toEqual([false, false])

    // A program writes where a worktree leads: bounds were fixed when the environment was opened.
    await run('git init -q --separate-git-dir=../beside/kept moved; echo "gitdir: ../beside" > .git-file')
    await run('mv .git kept && mv .git-file .git; echo x > ../beside/x')
    expect(existsSync(at('home/beside/x'))).toBe(false)
  })
})
