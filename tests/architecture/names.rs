//! Rules of names.

use syn::visit::{self, Visit};
use syn::{
    Attribute, FnArg, GenericArgument, ImplItem, ImplItemFn, ItemEnum, ItemFn, ItemImpl,
    ItemStruct, ItemTrait, ItemType, Pat, PathArguments, ReturnType, Signature, TraitItem, Type,
};

use super::{CODE, files, is_public, read};

/// Beginnings of the names of predicates.
const PREDICATES: [&str; 4] = ["is_", "has_", "can_", "needs_"];

/// Ends of the names of durations in settings.
const DURATIONS: [&str; 6] = ["after", "backoff", "interval", "retention", "timeout", "ttl"];

/// Ends of the names of arguments of a board that are neither resources nor filters.
const IDENTITIES: [&str; 6] = ["Caller", "Id", "MarkRead", "Path", "Ref", "Target"];

#[test]
fn names_follow_the_rules_of_contributing() {
    let mut faults = Vec::new();
    for file in CODE.into_iter().flat_map(files) {
        let mut names = NameRules::default();
        names.visit_file(&syn::parse_file(&read(&file)).unwrap());
        faults.extend(names.faults.into_iter().map(|fault| format!("{file}: {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Finds the violations in a file.
#[derive(Default)]
struct NameRules {
    faults: Vec<String>,
}

impl NameRules {
    fn require(&mut self, is_kept: bool, name: impl ToString, expected: &str) {
        if !is_kept {
            self.faults.push(format!("{}: expected {expected}", name.to_string()));
        }
    }

    fn check_function(&mut self, signature: &Signature, attributes: &[Attribute]) {
        let name = signature.ident.to_string();
        if PREDICATES.iter().any(|begin| name.starts_with(begin)) {
            let is_boolean = match &signature.output {
                ReturnType::Type(_, result) => holds(result, "bool"),
                ReturnType::Default => false,
            };
            self.require(is_boolean, &name, "a predicate that returns `bool`");
        }
        let is_test =
            |attribute: &Attribute| attribute.path().segments.last().unwrap().ident == "test";
        if attributes.iter().any(is_test) {
            self.require(name.matches('_').count() >= 2, &name, "a test whose name is a sentence");
        }
    }

    fn check_board_argument(&mut self, argument: &str, kind: &Type) {
        let name = last_name(kind);
        let is_kept = match argument {
            "new" => name.starts_with("New"),
            "update" => name.ends_with("Update"),
            "list" => {
                name == "List"
                    && parameter(kind).is_some_and(|filter| last_name(filter).ends_with("Filter"))
            }
            _ => IDENTITIES.iter().any(|end| name.ends_with(end)),
        };
        self.require(is_kept, &name, "`new: New…`, `update: …Update` or `list: List<…Filter>`");
    }

    fn check_error(&mut self, name: String, attributes: &[Attribute]) {
        let is_error = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("derive"))
            .any(|attribute| {
                let mut is_error = false;
                let found = attribute.parse_nested_meta(|meta| {
                    is_error |= meta.path.segments.iter().any(|segment| segment.ident == "Error");
                    Ok(())
                });
                found.is_ok() && is_error
            });
        if is_error {
            self.require(name.ends_with("Error"), &name, "an error that ends in `Error`");
        }
    }
}

impl Visit<'_> for NameRules {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.check_function(&item.sig, &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.check_function(&item.sig, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_type(&mut self, item: &ItemType) {
        if last_name(&item.ty) == "Result" {
            let name = item.ident.to_string();
            self.require(name.ends_with("Result"), &name, "a result that ends in `Result`");
        }
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        if is_public(&item.vis) {
            self.check_error(item.ident.to_string(), &item.attrs);
        }
    }

    fn visit_item_struct(&mut self, item: &ItemStruct) {
        let name = item.ident.to_string();
        if is_public(&item.vis) {
            self.check_error(name.clone(), &item.attrs);
        }
        let is_settings = name.ends_with("Settings");
        for field in item.fields.iter().filter(|field| is_settings && holds(&field.ty, "Duration"))
        {
            let field = field.ident.as_ref().unwrap().to_string();
            let has_end = DURATIONS.iter().any(|end| field.ends_with(end));
            self.require(has_end, &field, "a duration that ends in one of the listed words");
        }
    }

    fn visit_item_impl(&mut self, item: &ItemImpl) {
        let implementor = last_name(&item.self_ty);
        for method in &item.items {
            let ImplItem::Fn(method) = method else {
                continue;
            };
            if item.trait_.is_none() && method.sig.asyncness.is_none() {
                let name = method.sig.ident.to_string();
                self.require(!name.starts_with("get_"), &name, "a name without `get_`");
            }
            let takes_self = matches!(method.sig.inputs.first(), Some(FnArg::Receiver(_)));
            if method.sig.ident == "build" && takes_self {
                let is_builder = implementor.ends_with("Builder");
                self.require(is_builder, &implementor, "a type that ends in `Builder`");
            }
            if method.sig.ident == "settings"
                && let Some(FnArg::Typed(settings)) = method.sig.inputs.iter().nth(1)
            {
                let settings = last_name(&settings.ty);
                let is_settings = settings.ends_with("Settings");
                self.require(is_settings, &settings, "a type that ends in `Settings`");
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &ItemTrait) {
        for method in item.items.iter().filter(|_| item.ident == "Board") {
            let TraitItem::Fn(method) = method else {
                continue;
            };
            for input in &method.sig.inputs {
                if let FnArg::Typed(input) = input
                    && let Pat::Ident(argument) = &*input.pat
                {
                    self.check_board_argument(&argument.ident.to_string(), &input.ty);
                }
            }
        }
        visit::visit_item_trait(self, item);
    }
}

/// Returns the last name of a path, or of the type of a reference.
fn last_name(kind: &Type) -> String {
    match kind {
        Type::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
        Type::Reference(reference) => last_name(&reference.elem),
        _ => String::new(),
    }
}

/// Returns the first type in the angle brackets of a type.
fn parameter(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else {
        return None;
    };
    let PathArguments::AngleBracketed(parameters) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match parameters.args.first()? {
        GenericArgument::Type(parameter) => Some(parameter),
        _ => None,
    }
}

/// Returns `true` for a type, and for another one that has it as its first parameter, such as an `Option`.
fn holds(kind: &Type, name: &str) -> bool {
    last_name(kind) == name || parameter(kind).is_some_and(|inner| holds(inner, name))
}
