/** Whether a file is one that macOS or Windows leaves in folders that were looked at or copied: it says nothing of them. */
export const isSystemLitter = (name: string): boolean => /^(?:\.DS_Store|\._.*|desktop\.ini|Thumbs\.db)$/i.test(name)
