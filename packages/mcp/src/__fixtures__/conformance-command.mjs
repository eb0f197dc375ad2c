// What the MCP conformance suite starts for each scenario: hands it to the process that has the client and ends as that says. To load the client
// anew for each costs more than all that it does. `node conformance-command.mjs SOCKET URL`
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

const [socket, url] = process.argv.slice(2)
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const connection = connect({ path: socket, allowHalfOpen: true })
connection.end(JSON.stringify({ url, scenario, context: JSON.parse(context) }))
const error = await text(connection)
if (error !== '') {
  console.error(error)
  process.exitCode = 1
}
