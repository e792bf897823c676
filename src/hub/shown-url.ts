/** The address of a hub without its password and options, for people. */
export const shownUrl = (url: string): string => url.replace(/(\/\/[^:/@]*):[^@]*@/, '$1@').replace(/\?.*$/s, '')
