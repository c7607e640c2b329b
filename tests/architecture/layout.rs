//! Rules of layout that rustfmt and clippy do not check.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprForLoop, ExprIf, ExprMatch, ExprMethodCall, ExprReturn, ImplItemFn, ItemConst,
    ItemFn, Lit, Local, Macro, Pat, Stmt, Token, TypeTuple,
};

use super::{CODE, files, read};

/// Methods that split a text.
const SPLITS: [&str; 4] = ["lines", "split", "split_once", "split_whitespace"];

/// Methods that choose the other value of a condition.
const OTHERWISE: [&str; 7] = [
    "map_or",
    "map_or_else",
    "ok_or",
    "ok_or_else",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// Elements of the longest tuple that is not a struct with names.
const MAX_TUPLE: usize = 5;

#[test]
fn expressions_and_names_follow_the_rules_of_contributing() {
    let mut found = Vec::new();
    for file in CODE.into_iter().flat_map(files) {
        found.extend(faults(&read(&file)).into_iter().map(|fault| format!("{file}: {fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_violation_is_detected() {
    let own_name = "has the name of its function, which does not return it";
    for (code, expected) in [
        ("let a = 1; let a = 2;", "f: `a` is bound by two consecutive statements"),
        ("let a: u8 = 1; let mut a = 2;", "f: `a` is bound by two consecutive statements"),
        ("let f = 1; g(f);", &format!("f: `f` {own_name}")),
        ("let g = |x| { let g = x; 0 };", &format!("f > g: `g` {own_name}")),
        ("for a in \"b c\".split(' ') {}", "f: a list is one text that `split` takes apart"),
        ("let a = \"b|c\"; a.trim().lines();", "f: a list is one text that `lines` takes apart"),
        (
            "for a in [\"b c\"] { a.split_once(' '); }",
            "f: a list is one text that `split_once` takes apart",
        ),
        ("check!(x, \"b c\".split(' '));", "f: a list is one text that `split` takes apart"),
        ("a.then_some(1).ok_or(2)", "f: `then_some` and `ok_or` are an `if`"),
        ("match a { _ if b => 1, _ => 2 }", "f: a `match` without patterns is an `if`"),
        ("let s = if n == 1 { \"\" } else { \"s\" };", "f: a plural is formed from a letter"),
        ("let a: (u8, u8, u8, u8, u8, u8);", "f: a tuple has 6 elements"),
    ] {
        assert_eq!(faults(&format!("fn f() {{ {code} }}")), [expected], "{code}");
    }
    for code in [
        "let a = 1; g(); let a = 2;",
        "let (a, b) = g(); let b = h(b);",
        "let mut f = g(); f.push(1); Some(f)",
        "let a = g(); let b = a.split(' ');",
        "let a = match b { Some(c) if c => 1, _ => 2 };",
    ] {
        assert_eq!(faults(&format!("fn f() {{ {code} }}")), [""; 0], "{code}");
    }
}

fn faults(source: &str) -> Vec<String> {
    let mut layout = Layout::default();
    layout.visit_file(&syn::parse_file(source).unwrap());
    layout.faults
}

/// A function or a closure with a name.
struct Function {
    name: String,
    /// The names in the values that it returns.
    returned: BTreeSet<String>,
}

/// Finds the violations in a file.
#[derive(Default)]
struct Layout {
    functions: Vec<Function>,
    /// The names that are bound to a literal text, or to an element of an array of such texts.
    texts: BTreeSet<String>,
    /// The names that are bound to an array of literal texts.
    lists: BTreeSet<String>,
    faults: Vec<String>,
}

impl Layout {
    fn report(&mut self, fault: &str) {
        let path: Vec<_> = self.functions.iter().map(|function| &*function.name).collect();
        self.faults.push(format!("{}: {fault}", path.join(" > ")));
    }

    /// Visits a function, and then forgets the texts that it binds.
    fn visit_function(
        &mut self,
        name: String,
        returned: BTreeSet<String>,
        visit: impl FnOnce(&mut Self),
    ) {
        let (texts, lists) = (self.texts.clone(), self.lists.clone());
        self.functions.push(Function { name, returned });
        visit(self);
        self.functions.pop();
        self.texts = texts;
        self.lists = lists;
    }

    fn is_text(&self, value: &Expr) -> bool {
        match value {
            Expr::Lit(literal) => matches!(literal.lit, Lit::Str(_)),
            Expr::MethodCall(call) if call.method == "trim" => self.is_text(&call.receiver),
            Expr::Reference(reference) => self.is_text(&reference.expr),
            other => name_of(other).is_some_and(|name| self.texts.contains(&name)),
        }
    }

    fn is_list(&self, value: &Expr) -> bool {
        match value {
            Expr::Array(array) => {
                !array.elems.is_empty() && array.elems.iter().all(|element| self.is_text(element))
            }
            Expr::Reference(reference) => self.is_list(&reference.expr),
            other => name_of(other).is_some_and(|name| self.lists.contains(&name)),
        }
    }

    fn bind(&mut self, name: &str, value: &Expr) {
        if self.is_text(value) {
            self.texts.insert(name.to_owned());
        }
        if self.is_list(value) {
            self.lists.insert(name.to_owned());
        }
    }
}

impl Visit<'_> for Layout {
    fn visit_item_const(&mut self, item: &ItemConst) {
        self.bind(&item.ident.to_string(), &item.expr);
        visit::visit_item_const(self, item);
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        let name = item.sig.ident.to_string();
        self.visit_function(name, returned(&item.block), |layout| {
            visit::visit_item_fn(layout, item)
        });
    }

    /// A method does not have a name that a local hides.
    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        let name = format!("Self::{}", item.sig.ident);
        self.visit_function(name, BTreeSet::new(), |layout| {
            visit::visit_impl_item_fn(layout, item)
        });
    }

    fn visit_block(&mut self, block: &Block) {
        for pair in block.stmts.windows(2) {
            if let [Stmt::Local(one), Stmt::Local(other)] = pair
                && let (Some(one), Some(other)) = (bound_name(&one.pat), bound_name(&other.pat))
                && one == other
            {
                self.report(&format!("`{one}` is bound by two consecutive statements"));
            }
        }
        visit::visit_block(self, block);
    }

    fn visit_local(&mut self, local: &Local) {
        let name = bound_name(&local.pat);
        let value = local.init.as_ref().map(|init| &*init.expr);
        if let Some(name) = &name {
            let own = self.functions.iter().rfind(|function| function.name == *name);
            if own.is_some_and(|function| !function.returned.contains(name)) {
                let fault = "has the name of its function, which does not return it";
                self.report(&format!("`{name}` {fault}"));
            }
            value.into_iter().for_each(|value| self.bind(name, value));
        }
        match (name, value) {
            (Some(name), Some(Expr::Closure(closure))) => {
                let values = match &*closure.body {
                    Expr::Block(body) => returned(&body.block),
                    _ => BTreeSet::new(),
                };
                self.visit_function(name, values, |layout| visit::visit_local(layout, local));
            }
            _ => visit::visit_local(self, local),
        }
    }

    fn visit_expr_for_loop(&mut self, each: &ExprForLoop) {
        let texts = self.texts.clone();
        if self.is_list(&each.expr) {
            self.texts.extend(bound_name(&each.pat));
        }
        visit::visit_expr_for_loop(self, each);
        self.texts = texts;
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        let method = call.method.to_string();
        if SPLITS.contains(&&*method) && self.is_text(&call.receiver) {
            self.report(&format!("a list is one text that `{method}` takes apart"));
        }
        if let Expr::MethodCall(condition) = &*call.receiver
            && (condition.method == "then" || condition.method == "then_some")
            && OTHERWISE.contains(&&*method)
        {
            self.report(&format!("`{}` and `{method}` are an `if`", condition.method));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_match(&mut self, choice: &ExprMatch) {
        let has_no_pattern = choice.arms.iter().all(|arm| match &arm.pat {
            Pat::Guard(guarded) => matches!(*guarded.pat, Pat::Wild(_)),
            other => matches!(other, Pat::Wild(_)),
        });
        if has_no_pattern && !choice.arms.is_empty() {
            self.report("a `match` without patterns is an `if`");
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_expr_if(&mut self, choice: &ExprIf) {
        let otherwise = match choice.else_branch.as_ref().map(|(_, branch)| &**branch) {
            Some(Expr::Block(branch)) => only_text(&branch.block),
            _ => None,
        };
        if let (Some(one), Some(other)) = (only_text(&choice.then_branch), otherwise)
            && one.len() + other.len() == 1
            && (one + &other).chars().all(char::is_alphabetic)
        {
            self.report("a plural is formed from a letter");
        }
        visit::visit_expr_if(self, choice);
    }

    fn visit_type_tuple(&mut self, tuple: &TypeTuple) {
        if tuple.elems.len() > MAX_TUPLE {
            self.report(&format!("a tuple has {} elements", tuple.elems.len()));
        }
        visit::visit_type_tuple(self, tuple);
    }

    /// Visits the statements or arguments of a macro. Other macros, such as `html!`, are skipped.
    fn visit_macro(&mut self, item: &Macro) {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(stmts) = item.parse_body_with(Block::parse_within) {
            self.visit_block(&Block { brace_token: Default::default(), stmts });
        } else if let Ok(arguments) = item.parse_body_with(arguments) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

/// Returns the name that a pattern binds, if it binds the whole value to one.
fn bound_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(name) => Some(name.ident.to_string()),
        Pat::Type(typed) => bound_name(&typed.pat),
        _ => None,
    }
}

fn name_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// Returns the text of a block that contains only a literal.
fn only_text(block: &Block) -> Option<String> {
    match &block.stmts[..] {
        [Stmt::Expr(Expr::Lit(literal), None)] => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the names in the last expression of a function and in its `return`s.
fn returned(block: &Block) -> BTreeSet<String> {
    let mut values = Returned::default();
    values.visit_block(block);
    if let Some(Stmt::Expr(last, None)) = block.stmts.last() {
        values.collect(last);
    }
    values.0
}

/// The names in the `return`s of a function.
#[derive(Default)]
struct Returned(BTreeSet<String>);

impl Returned {
    fn collect(&mut self, value: &Expr) {
        let mut names = ValueNames::default();
        names.visit_expr(value);
        self.0.append(&mut names.0);
    }
}

impl Visit<'_> for Returned {
    fn visit_expr_return(&mut self, item: &ExprReturn) {
        item.expr.iter().for_each(|value| self.collect(value));
    }
}

/// The names in an expression.
#[derive(Default)]
struct ValueNames(BTreeSet<String>);

impl Visit<'_> for ValueNames {
    fn visit_expr(&mut self, value: &Expr) {
        self.0.extend(name_of(value));
        visit::visit_expr(self, value);
    }
}
