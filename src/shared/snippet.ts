const signs: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

/**
 * The text of a snippet, which the API gives as escaped HTML with `<mark>` around what was found. A `<mark>` of the text
 * itself is escaped.
 * @param mark what stands for each beginning and end
 */
export const snippetText = (html: string, mark: string): string =>
  html.replaceAll(/<\/?mark>/g, mark).replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => signs[name] ?? '')
