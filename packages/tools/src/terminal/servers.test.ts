import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createTerminalTool } from '../index.js'
import { endlessPart } from './servers.js'

describe('a command that serves or watches', () => {
  it.each([
    ['npm run dev', 'npm run dev'],
    ['cd app && PORT=3000 pnpm dev -- --host', 'pnpm dev -- --host'],
    ['yarn start:web', 'yarn start:web'],
    ['python3 -m http.server 8000', 'python3 -m http.server 8000'],
    ['sudo -E python3 manage.py runserver', 'python3 manage.py runserver'],
    ['npx vite', 'vite'],
    ['uvicorn app:api --reload', 'uvicorn app:api --reload'],
    ['docker compose up', 'docker compose up'],
    ['tail -f log 2>&1', 'tail -f log 2>&1'],
    ['npx tsc --noEmit --watch', 'tsc --noEmit --watch'],
    ['ping example.com', 'ping example.com'],
    ['rails s; echo done', 'rails s'],
  ])('is found in %s', (command, part) => {
    expect(endlessPart(command)).toBe(part)
  })

  it.each([
    'npm run build && npm test',
    'npm run dev --help',
    'npm install serve',
    'timeout 5 npm run dev',
    'npm run dev & sleep 3; curl localhost:3000; kill %1',
    'tail -f log | head -5',
    'tail -n 5 log',
    'vite build',
    'docker compose up -d',
    'ping -c 1 example.com',
    'echo "npm run dev"',
    'git commit -m "start: npm start"',
    'grep -rn "npm start" docs',
    'python3 manage.py migrate',
    'uvicorn --version',
    'vitest run',
    'cat serve',
    'npx jest -w 4',
    'vitest --watch=false',
    'jupyter notebook list',
    'gunicorn --check-config app',
  ])('is not seen in %s', (command) => {
    expect(endlessPart(command)).toBeNull()
  })

  it('is steered to the background, and runs in the foreground with a time limit of its own', async () => {
    const { environment } = await temporaryEnvironment()
    const context = createToolContext({ environment })
    const run = (more: object) => call(createTerminalTool(), { command: 'tail -f /dev/null', ...more }, context)
    const refused = await run({})
    expect(refused.isError).toBe(true)
    expect(refused.text).toBe(
      '"tail -f /dev/null" does not end by itself. Run it with background=true and look at it with process, or give a timeout (seconds) to have it here for that long.',
    )
    expect(context.permitted).toEqual([])
    expect((await run({ timeout: 0.2 })).data).toMatchObject({ timed_out: true })
    expect((await run({ background: true })).data).toHaveProperty('session_id')
  })
})
