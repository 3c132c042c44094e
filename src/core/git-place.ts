/** What git has checked out: the branch (empty when detached) and the commit (empty when unborn). */
export interface GitPlace {
  readonly branch: string;
  readonly commit: string;
}

export const samePlace = (a: GitPlace, b: GitPlace | undefined): boolean =>
  a.branch === b?.branch && a.commit === b.commit;
