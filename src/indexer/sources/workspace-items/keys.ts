import { tabKeys } from '../records/chat/decode-tabs.ts'

/**
 * The items that are read, by their exact names. The table also holds tokens, keys and settings, so that nothing in it
 * is ever asked for by a pattern.
 */
export const COMPOSERS_KEY = 'composer.composerData'
export const PANE_KEY = 'workbench.panel.composerChatViewPane'
export const PROMPTS_KEY = 'aiService.prompts'

export const itemKeys: readonly string[] = [...tabKeys, COMPOSERS_KEY, PANE_KEY, PROMPTS_KEY]

/** Where the other table holds chats, as the global store does. */
export const CHAT_ROW_PREFIX = 'composerData:'
