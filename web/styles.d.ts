/** A style sheet is imported for its effect: the bundler puts it into app.css. */
declare module "*.css" {}
