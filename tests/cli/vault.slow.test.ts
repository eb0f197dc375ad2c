// Passwords of a vault, filled into pages that show and keep whatever they get: none is found outside the vault, and each goes to its own site.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hasChromium } from '../support/chromium.js'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'

/** `pnpm soak` asks for thousands of runs, and gets more passwords: each one is kept by a slow key of its own. */
const COUNT = Number(process.env['HERMES_TEST_RUNS'] ?? 0) >= 1_000 ? 20 : 6
const scene = useScene()
const canary = (at: number) => `cnry-${(at * 7919 + 104_729).toString(36)}-${at}&"Zq8vTr`
const call = (name: string, args: object) => ({ toolCalls: [{ name: 'tool_call', args: { name, arguments: args } }] })

/** Writes what is typed into its fields wherever it can. */
const PAGE = `<!doctype html><title>Login</title>${'<input type=password aria-label=Key oninput="show(this.value)">'.repeat(COUNT / 2)}<p id=o></p><img id=i><script>
  const show = (value) => {
    o.textContent += value
    document.title += value
    console.error(value)
    i.alt = value
    history.replaceState(null, '', '?' + value)
    document.cookie = 'c=' + encodeURIComponent(value)
    fetch('/got', { method: 'POST', body: value }).catch(() => {})
    fetch('/told', { headers: { 'x-told': encodeURIComponent(value) } }).catch(() => {})
  }
</script>`

/** A site with two names, which are two sites to a browser, and what each was sent. */
async function startSites() {
  const got: { readonly host: string; readonly body: string }[] = []
  const heads: { readonly host: string; readonly head: string }[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    heads.push({ host: request.headers.host!, head: `${request.url} ${JSON.stringify(request.headers)}` })
    if (request.url === '/got') got.push({ host: request.headers.host!, body })
    response.setHeader('content-type', 'text/html').end(PAGE)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const [one, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`] as const
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { one, other, got, heads, [Symbol.asyncDispose]: close }
}

needs('chromium', hasChromium)('with a browser', () => {
  it('passwords go to their sites and are found nowhere else', async () => {
    const { server, home, cwd } = scene
    await using sites = await startSites()
    const { one, other, got, heads } = sites
    await mkdir(home, { recursive: true, mode: 0o700 })
    const quiet = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'
    await writeFile(join(home, 'config.yaml'), `${quiet}browser: {allow_cdp: true}\n`, { mode: 0o600 })
    const rules = `browser(${one}): allow\nbrowser(${other}): allow\n`
    await writeFile(join(home, 'permissions.yaml'), rules, { mode: 0o600 })
    const env = { HERMES_VAULT_PASSPHRASE: 'open sesame, said the canary' }
    let screens = ''
    const hermes = async (args: readonly string[], input?: string) => {
      const { stdout, stderr } = await runCli(args, { home, cwd, env, ...(input === undefined ? {} : { input }) })
      screens += stdout + stderr
    }
    const siteOf = (at: number) => (at % 2 === 0 ? one : other)
    for (let at = 0; at < COUNT; at++)
      await hermes(
        ['vault', 'add', `login${at}`, '--site', siteOf(at), '--user', 'ann', '--password-stdin'],
        canary(at),
      )
    const logins = Array.from({ length: COUNT }, (_, at) => at)
    // References go on counting from page to page.
    const fills = (origin: string, first: number) =>
      logins
        .filter((at) => siteOf(at) === origin)
        .map((at, index) => call('browser_vault_fill', { name: `login${at}`, password_ref: `e${first + index}` }))
    const expression =
      'o.textContent + document.title + location.href + [...document.querySelectorAll("input")].map((f) => f.value)'
    const looks = [
      call('browser_snapshot', {}),
      call('browser_snapshot', { find: 'cnry' }),
      call('browser_console', {}),
      call('browser_get_images', {}),
      call('browser_tabs', {}),
      call('browser_cdp', { method: 'Runtime.evaluate', params: { expression } }),
      call('browser_vision', { question: 'What is written there?' }),
    ]
    const visit = (origin: string, { wrong, first }: { readonly wrong: number; readonly first: number }) => [
      call('browser_navigate', { url: `${origin}/` }),
      ...fills(origin, first),
      call('browser_vault_fill', { name: `login${wrong}`, password_ref: `e${first}` }),
      ...looks,
    ]
    server.enqueue(...visit(one, { wrong: 1, first: 1 }), ...visit(other, { wrong: 0, first: COUNT / 2 + 1 }), {
      text: 'All are in.',
    })
    await hermes(['chat', '-q', 'Log in.', '--base-url', server.baseUrl, '-m', 'm', '--yolo'])
    for (const args of [
      ['vault', 'list'],
      ['sessions', 'search', 'cnry'],
      ['audit', 'list', '--json', '-n', '200'],
    ])
      await hermes(args)

    const answers = JSON.stringify(server.requests.at(-1)!.body.messages)
    expect(answers.match(/Filled login\d+ into password/g)).toHaveLength(COUNT)
    expect(answers.match(/login\d was saved for http/g)).toHaveLength(2)
    expect(answers.match(/No picture was taken/g)).toHaveLength(2)
    expect(
      got.filter(({ host, body }) => siteOf(logins.findIndex((at) => canary(at) === body)) !== `http://${host}`),
    ).toEqual([])
    const texts = [screens, ...server.requests.map(({ headers, body }) => JSON.stringify([headers, body]))]
    const entries = await readdir(home, { recursive: true, withFileTypes: true })
    for (const entry of entries)
      if (entry.isFile()) texts.push((await readFile(join(entry.parentPath, entry.name))).toString('latin1'))
    const forms = (secret: string) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      encodeURI(secret),
    ]
    const foundIn = (some: readonly string[]) =>
      logins.filter((at) => forms(canary(at)).some((form) => some.some((text) => text.includes(form))))
    expect(foundIn(texts)).toEqual([])
    // Headers, cookies and referrers among them, take a password to its own site too, and to no other.
    expect(foundIn(heads.map(({ head }) => head))).toEqual(logins)
    for (const site of [one, other]) {
      const elsewhere = heads.filter(({ host }) => `http://${host}` !== site).map(({ head }) => head)
      expect(foundIn(elsewhere).filter((at) => siteOf(at) === site)).toEqual([])
    }
  })
})
