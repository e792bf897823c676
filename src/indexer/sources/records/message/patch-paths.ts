/** Files that a patch names, where a call's input is the patch itself: `*** Update File: src/a.ts`. */
export function pathsInPatch(text: string): readonly string[] {
  const named = text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)
  return [...new Set([...named].map(([, path]) => (path ?? '').trim()))].filter((path) => path !== '')
}
