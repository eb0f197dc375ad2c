// What Codex reads of a model: the Responses protocol, where each call of a tool is a small program that it runs.

/** Settings of Codex for a model at `port` of this machine. */
export const codexConfig = (port) => `model_provider = "bench"
[model_providers.bench]
name = "bench"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
`

/**
 * Streams one answer.
 * @param {import('node:http').ServerResponse} response
 * @param {number} count which answer of the conversation it is, from 1
 * @param {{ text?: string, program?: string, stalls?: boolean }} step what is said, the program that calls tools; `stalls` never ends it
 */
export function answerCodex(response, count, { text, program, stalls = false }) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const id = `response_${count}`
  send('response.created', { response: { id } })
  if (text !== undefined) {
    const message = { type: 'message', id: `message_${count}`, role: 'assistant' }
    send('response.output_item.added', { output_index: 0, item: { ...message, content: [] } })
    send('response.output_text.delta', { item_id: message.id, output_index: 0, content_index: 0, delta: text })
    if (stalls) return
    send('response.output_item.done', {
      output_index: 0,
      item: { ...message, content: [{ type: 'output_text', text }] },
    })
  }
  if (program !== undefined)
    send('response.output_item.done', {
      item: {
        type: 'custom_tool_call',
        id: `item_${count}`,
        call_id: `call_${count}`,
        namespace: 'functions',
        name: 'exec',
        input: program,
      },
    })
  const usage = { input_tokens: 1000, output_tokens: 10, total_tokens: 1010 }
  send('response.completed', {
    response: { id, usage: { ...usage, input_tokens_details: null, output_tokens_details: null } },
  })
  response.end()
}

/** A program of one command, which hands back what that prints. */
export const commandProgram = (command) =>
  `const done = await tools.exec_command(${JSON.stringify({ cmd: command })})\ntext(done.output)`
