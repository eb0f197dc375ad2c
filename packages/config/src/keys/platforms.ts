import { flag, oneOf, record, section, someSection, someTexts, text, texts, whole } from './kinds.js'

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
  channel_overrides: record(
    someSection({
      model: text().describe('The model of new sessions there.'),
      provider: text(),
      system_prompt: text().describe('Added to the instructions of new sessions there.'),
      skills: someTexts().describe('Names of skills that the agent reads there before it answers.'),
    }),
  ).describe('What single chats have of their own, by id.'),
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
  email: section({
    ...COMMON,
    address: text().describe('The mailbox of the agent; better as `EMAIL_ADDRESS` in `.env`.'),
    password: text().describe('Of the mailbox; better as `EMAIL_PASSWORD` in `.env`.'),
    imap_host: text().describe('Where mail is read; better as `EMAIL_IMAP_HOST` in `.env`.'),
    imap_port: whole(1)(993).describe('993 is encrypted from the start; any other has to offer STARTTLS.'),
    smtp_host: text().describe('Where mail is sent; better as `EMAIL_SMTP_HOST` in `.env`.'),
    smtp_port: whole(1)(587).describe('465 is encrypted from the start; any other has to offer STARTTLS.'),
    authserv_id: text().describe(
      'The name under which the receiving server writes `Authentication-Results`: nobody is heard whose sender it does not vouch for. `none` takes senders at their word. Without it no mail is read. `EMAIL_AUTHSERV_ID` counts more.',
    ),
  }),
})
