import type { Prose } from '../prose.js'

/** How servers of this wire say things: Anthropic, and those who resell its models. */
export const ANTHROPIC_MESSAGES_PROSE: Prose = {
  words: {
    'content-policy': /usage polic(?:y|ies)|content filtering policy|violat.{0,40}(?:policy|policies|terms)/i,
    'thinking-signature':
      /signature.{0,40}thinking|thinking.{0,60}signature|thinking.{0,80}(?:cannot be modified|must remain|bound to|must contain)|expected .{0,3}thinking|(?:prefix|model)_binding_mismatch/i,
    'long-context-tier':
      /long context.{0,80}(?:extra usage|tier|credits|not (?:yet )?available)|extra usage.{0,60}long context/i,
    billing: /credit balance is too low|specified (?:api |workspace )*usage limits|spend(?:ing)? (?:limit|cap)/i,
    overloaded: /^overloaded$/i,
    context: /prompt is too long|input length and .?max_tokens.? exceed context limit/i,
    payload: /request exceeds the maximum (?:allowed )?(?:size|number of bytes)|total size of the request/i,
    image: /image exceeds \d|image dimensions exceed|many-image requests/i,
    'model-missing': /^model: \S+$/,
  },
  codes: {
    billing: [
      'billing_error',
      'enforced_spend_limit_reached',
      'org_spend_limit_reached',
      'workspace_spend_limit_reached',
    ],
    payload: ['request_too_large'],
    overloaded: ['overloaded_error'],
  },
  windows: [/tokens > ([\d,]+) maximum/i, /exceed context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i],
}
