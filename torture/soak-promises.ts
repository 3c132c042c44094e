/** What the plans of a soak are promised; known to the team and to those who judge it. */
export const maxAttempts = 2;
export const mostJobs = 3;
/** Of a run, in tokens; and the most that one attempt of this team uses. */
export const runBudget = 1_000_000;
export const mostOfAttempt = 300_000;
