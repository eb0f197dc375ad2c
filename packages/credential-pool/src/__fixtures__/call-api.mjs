// node call-api.mjs AUTH_JSON API_URL TOKEN_ENDPOINT CLIENT_ID: waits for a line on standard input, then calls the API once the way
// a model client does: takes a credential, and renews it when it is refused. Prints what the call came to.
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { openCredentialPool } from '../index.ts'

const [path, apiUrl, tokenEndpoint, clientId] = process.argv.slice(2)
const print = (line) => writeSync(1, `${line}\n`)
const pool = openCredentialPool({ path, provider: 'p', oauth: { clientId, tokenEndpoint } })
const call = async ({ secret }) => (await fetch(apiUrl, { headers: { authorization: `Bearer ${secret}` } })).status
print('ready')
await once(process.stdin, 'data')
const credential = await pool.select()
let status = credential ? await call(credential) : 'none'
if (status === 401) {
  const renewed = await pool.refresh(credential)
  status = renewed ? `renewed ${await call(renewed)}` : 'not renewed'
}
print(status)
process.exit(0)
