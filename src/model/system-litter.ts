/** Whether a file was created by macOS or Windows when the folder was viewed or copied. Such files have no meaning. */
export const isSystemLitter = (name: string): boolean => /^(?:\.DS_Store|\._.*|desktop\.ini|Thumbs\.db)$/i.test(name)
