/**
 * 0024. Why: a row of the global store whose value is NULL is a deletion of Cursor's. It counted as a row that could not be
 * read. Other sources note the size of what has no content.
 */
export const deletions = `
delete from row_issues where reason = 'null-value' and octets is null;
`
