/**
 * Why: a search within a project asks of each message that it meets which chat it is of. The rows of messages are long,
 * and those of 2,000 matches lie on as many pages; this holds forty times as many messages to a page.
 */
export const chatOfMessage = `
create index chat_of_message on messages (key, chat);
`
