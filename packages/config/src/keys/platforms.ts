import { flag, oneOf, section, text, texts } from './kinds.js'

/** What every platform takes. */
const COMMON = {
  enabled: flag(true).describe('`false` leaves it off whatever account is known.'),
  allowed_users: texts().describe('Ids of who may talk to the agent, beside `people` and who was paired; `*` for all.'),
  allow_all_users: flag(false).describe('Whether everybody may.'),
  allow_admin_from: texts().describe(
    'Ids of who may answer approvals for good and call every command, beside the owner. Default: the owner alone.',
  ),
  unauthorized_dm_behavior: oneOf('pair', 'ignore')().describe('In place of the one of all platforms.'),
  reply_to_mode: oneOf('off', 'first')('first').describe('Whether an answer points at the message that it answers.'),
  typing_indicator: flag(true).describe('Whether people see that an answer is being written.'),
}

/** Chat platforms, by name. */
export const PLATFORMS = section({
  telegram: section({
    ...COMMON,
    token: text().describe('Of @BotFather; better as `TELEGRAM_BOT_TOKEN` in `.env`.'),
    allowed_chats: texts().describe('Ids of groups in which everybody may talk to the agent.'),
    require_mention: flag(false).describe('Whether it hears in groups only what names it or answers it.'),
    webhook_url: text().describe('Telegram delivers there; with `TELEGRAM_WEBHOOK_SECRET`. Default: it is asked.'),
    base_url: text().describe("A Bot API server of one's own."),
  }),
})
