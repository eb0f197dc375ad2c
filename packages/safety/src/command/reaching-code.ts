import { type Invocation, texts } from './invocation.js'
import { interpreterOf } from './programs.js'

/** Ways to the network in the languages that programs are handed over in. */
const NETWORK =
  /\b(?:urllib|urlopen|requests\.|import\s+requests|httpx|aiohttp|http\.(?:client|server)|socket(?:server)?\b|smtplib|ftplib|telnetlib|paramiko|XMLHttpRequest|WebSocket|EventSource|axios|undici|Net::HTTP|open-uri|HTTParty|LWP|IO::Socket|curl_init|fsockopen|xmlrpc)|\bfetch\s*\(|["'](?:node:)?(?:net|https?|http2|dgram|tls|dns)["']|file_get_contents\s*\(\s*["']https?:/
const WRITING =
  /open\w*\s*\((?:[^)\n]*,)?\s*(?:mode\s*=\s*)?["'][rbt]*[wax+]|\bopen\b[^\n]{0,200}?["']\s*\+?>|\bto_(?:csv|json|excel|parquet|pickle)\b|savefig|urlretrieve|extractall|unpack_archive|writefile|symlinkSync|(?:Deno|Bun)\.write|(?:cp|copy|rename|link)(?:Sync|File)\b|File::Copy|FileUtils|IO\.copy|\.write_(?:text|bytes)|writeFile|appendFile|createWriteStream|copyFile|rename|\bunlink|rmtree|shutil|os\.(?:remove|rename|replace|symlink|link|mkdir|makedirs)|mkdir|symlink|File\.(?:write|open)|file_put_contents|IO\.write/
const BEYOND = /["'`](?:~|\.\.)\/|["'`]\/(?!tmp\/|var\/tmp\/|dev\/)\w|expanduser|homedir\s*\(|Path\.home/

/** Text that an interpreter is handed as a program: inline, or as its standard input. */
export function handedCode(invocation: Invocation): readonly string[] {
  if (interpreterOf(invocation.name) === null) return []
  const { text } = invocation.input
  return text === null ? texts(invocation.args) : [...texts(invocation.args), text]
}

/** Whether code opens connections by itself. Says nothing about modules it does not know. */
export function usesNetwork(code: string): boolean {
  return NETWORK.test(code)
}

/** Whether code changes files and names places beyond the folder it runs in. */
export function writesBeyond(code: string): boolean {
  return WRITING.test(code) && BEYOND.test(code)
}
