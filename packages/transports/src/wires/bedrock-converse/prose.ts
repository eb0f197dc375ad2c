import type { Prose } from '../prose.js'

/** How the service of this wire says things; the names of its exceptions stand for statuses already. */
export const BEDROCK_CONVERSE_PROSE: Prose = {
  words: {
    'content-policy': /guardrail/i,
    key: /security token included in the request is (?:expired|invalid)|signature we calculated does not match/i,
    billing: /payment[ _]instrument/i,
    transient: /please wait before trying/i,
    rate: /too many tokens, please wait|too many connections/i,
    context:
      /input is too long for requested model|expected maxlength|exceeds the maximum (?:allowed )?(?:input|prompt) (?:tokens|length)/i,
    'model-missing':
      /model identifier is invalid|don't have access to the model|on-demand throughput isn.t supported|model (?:version )?has reached (?:the )?end of (?:its )?life/i,
    unsupported: /maximum tokens you requested exceeds? the model limit/i,
    caching: /cache_?point|prompt caching/i,
    // The right to stream is granted apart from the right to ask at all.
    streaming: /not authorized.{0,40}InvokeModelWithResponseStream/,
  },
  codes: {
    rate: ['throttlingexception', 'servicequotaexceededexception', 'toomanyrequestsexception'],
    overloaded: ['modelnotreadyexception', 'serviceunavailableexception'],
    key: ['expiredtokenexception', 'unrecognizedclientexception'],
  },
  windows: [/expected maxlength: ([\d,]+)/i],
}
