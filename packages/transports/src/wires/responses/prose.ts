import type { Prose } from '../prose.js'

/** What servers of this wire say beside what those of chat completions say, which come from the same house. */
export const RESPONSES_PROSE: Prose = {
  words: {
    summaries: /reasoning[ ._]summar/i,
    'sealed-thought':
      /encrypted content.{0,80}(?:could not be|not be verified|decrypted)|of type .reasoning. was provided without/i,
  },
  codes: {
    'sealed-thought': ['invalid_encrypted_content'],
    'content-policy': ['bio_policy', 'misalignment_policy_violation', 'image_content_policy_violation'],
    image: ['image_too_large', 'image_file_too_large'],
    rate: ['rate_limit_exceeded'],
    overloaded: ['server_is_overloaded', 'slow_down'],
    'usage-limit': ['usage_limit_reached'],
  },
  windows: [],
}
