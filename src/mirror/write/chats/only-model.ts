const named = (pick: 'min' | 'max'): string => `(
  select ${pick}(n.model) from messages n indexed by token_counts where n.chat = c.num and n.is_orphan = 0
)`

/**
 * An expression over `c`, a chat: the model that its messages name, where they name one alone. The model that is chosen in
 * a chat says what comes next, and nothing of what was said before.
 */
export const ONLY_MODEL = `iif(${named('min')} = ${named('max')}, ${named('min')}, null)`
