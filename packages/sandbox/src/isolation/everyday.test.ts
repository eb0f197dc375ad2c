import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { harness } from '../testing/harness.js'
import { isolated } from './__fixtures__/isolated.js'
import { probeIsolation } from './probe-isolation.js'

/** What people have an agent run all day, in this order; `PORT` serves a file, `NODE` is the folder of this Node. */
const COMMANDS = [
  'pwd && ls -la',
  'printf "one\\ntwo\\nthree\\n" > list.txt && cat list.txt',
  'grep -n two list.txt',
  'sed -i "s/two/2/" list.txt && grep 2 list.txt',
  "awk '{ print NR, $0 }' list.txt",
  'sort -r list.txt | uniq | head -2 | tail -1',
  'wc -l < list.txt',
  'find . -name "*.txt" -type f',
  'find . -name "*.txt" -print0 | xargs -0 grep -c one',
  'mkdir -p src/deep && touch src/deep/a && mv src/deep/a src/b && cp -r src copy && rm -r copy',
  'ln -s list.txt link && readlink link && chmod 600 list.txt',
  'tar czf all.tgz list.txt src && tar tzf all.tgz',
  'gzip -k list.txt && gunzip -c list.txt.gz | cmp - list.txt',
  'diff -u list.txt src/b || [ $? = 1 ]',
  'cp list.txt new.txt && echo four >> new.txt; diff -u list.txt new.txt > change.patch || true',
  'cp list.txt again.txt && patch again.txt change.patch && cmp again.txt new.txt',
  'head -c 16 /dev/urandom | od -An -tx1',
  'sha256sum list.txt && md5sum list.txt && base64 list.txt',
  'date -u && uname -a && id && whoami && hostname',
  'df -h . && du -sh . && free -m | head -1',
  'env | sort | head -5 && which sh',
  'ps -ef | head -3 && echo $$',
  'mktemp && mktemp -d',
  'sleep 0.1 & wait; echo done',
  'tee copy.txt < list.txt > /dev/null && test -s copy.txt',
  'echo "echo from script" > run.sh && sh run.sh && chmod +x run.sh && ./run.sh',
  'git init -q . && git config user.name Ada && git config user.email ada@example.org && git status --short',
  'git add . && git commit -qm first && git log --oneline',
  'git checkout -qb topic && echo x >> list.txt && git diff --stat && git commit -qam more',
  'git stash list && git branch -a && git tag v1 && git show --stat HEAD | head -3',
  'git clone -q . ../work/clone && git -C clone log --oneline | wc -l',
  'git merge-base HEAD v1 && git blame list.txt | head -1 && git worktree add -q wt && git worktree remove wt',
  'NODE/node -e "console.log(1 + 1)" && NODE/node --version',
  "NODE/node -e \"require('fs').writeFileSync('out.json', JSON.stringify({ a: 1 }))\" && cat out.json",
  'mkdir -p pkg && (cd pkg && npm init -y > /dev/null && npm pkg get name)',
  '(cd pkg && npm pack --silent && tar tzf *.tgz)',
  '(cd pkg && npm pkg set scripts.hi="echo hi" && npm run --silent hi)',
  '(cd pkg && mkdir -p dep && echo "{\\"name\\":\\"dep\\",\\"version\\":\\"1.0.0\\"}" > dep/package.json && npm install --silent --no-audit --no-fund --offline ./dep && ls node_modules)',
  'printf "all:\\n\\t@echo made\\n" > Makefile && make -s',
  'printf "int main(void){return 0;}" > a.c && cc a.c -o a.out && ./a.out',
  'python3 -c "print(sum(range(4)))"',
  'python3 -m venv --without-pip env && . env/bin/activate && python -c "import sys; print(sys.prefix)"; deactivate',
  'NODE/node -e "fetch(\'http://127.0.0.1:PORT/\').then((r) => r.text()).then(console.log)" | grep served',
  "(NODE/node -e \"require('http').createServer((q, r) => r.end('up')).listen(0, () => console.log('listening'))\" > server.log 2>&1 & echo $! > pid) ; until grep -q listening server.log; do sleep 0.05; done; kill $(cat pid)",
  'openssl rand -hex 8 && openssl dgst -sha256 list.txt',
]

/** Programs of commands that a machine may well lack. */
const OPTIONAL = ['npm', 'make', 'cc', 'python3', 'openssl', 'patch', 'ps']

needs((await probeIsolation()) ?? missingPrograms('git'))('isolated', () => {
  it(`${COMMANDS.length} everyday commands work, one after the other`, async () => {
    const server = createServer((_request, response) => response.end('served'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { run } = await harness(() => isolated())
    const lacking = OPTIONAL.filter((name) => missingPrograms(name) !== null)
    const failed: string[] = []
    let count = 0
    for (const command of COMMANDS) {
      if (lacking.some((name) => new RegExp(`(^|[\\s(])${name} `).test(command))) continue
      const text = command.replaceAll('PORT', String(port)).replaceAll('NODE', dirname(process.execPath))
      const { exitCode, output } = await run(text, { timeoutMs: 20_000 })
      count++
      if (exitCode !== 0) failed.push(`${command}\n${output}`)
    }
    expect(failed).toEqual([])
    expect(count).toBeGreaterThanOrEqual(COMMANDS.length - 8)
  })

  it('commands that need more say so in the words of the system', async () => {
    const { run, environment } = await harness(() => isolated())
    const { output, exitCode } = await run(`echo x >> ${environment.resolve('~/.bashrc')}`)
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/Read-only file system/)])
  })
})
